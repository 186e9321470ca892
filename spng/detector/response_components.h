// SPDX-License-Identifier: Apache-2.0
#pragma once
// Components of the detector response: the field response file, and the electronics.

#include "spng/core/component.h"
#include "spng/detector/electronics_response.h"
#include "spng/detector/field_response.h"
#include "spng/io/data_file_reader.h"

#include <string>
#include <vector>

namespace spng {

struct FieldResponseConfig {
    std::string filename;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&FieldResponseConfig::filename, "filename", "", required(),
                  "field response file (.json, .json.bz2, .json.gz), found on the data path"));
    }
};

/// Registered as "FieldResponse".
class FieldResponseComponent : public ServiceWith<FieldResponseConfig>, public DataFileReader {
public:
    void prepare(Environment& environment) override;
    const FieldResponse& response() const { return m_response; }

private:
    const std::string& data_file_name() const override { return config().filename; }

    FieldResponse m_response;
};

struct ColdElecResponseConfig {
    double gain = 0;
    double shaping = 2200;
    double postgain = 1;
    double duration = 50000;
    static constexpr auto fields() {
        using C = ColdElecResponseConfig;
        return std::make_tuple(
            field(&C::gain, "gain", "MV/e", Range{.low = 0, .low_is_open = true, .required = true},
                  "peak of the response to a short pulse, 14*wc.mV/wc.fC for example"),
            field(&C::shaping, "shaping", "ns", above(0), "nominal peaking time"),
            field(&C::postgain, "postgain", "1", any(), "gain of the stages behind the shaper"),
            field(&C::duration, "duration", "ns", above(0), "length of the sampled response"));
    }
};

/// Registered as "ColdElecResponse".
class ColdElecResponse : public ServiceWith<ColdElecResponseConfig> {
public:
    ColdElectronics electronics() const;
};

} // namespace spng
