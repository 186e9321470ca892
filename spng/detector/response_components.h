// SPDX-License-Identifier: Apache-2.0
#pragma once
// Components of the detector response: the field response file, and the electronics.

#include "spng/core/component.h"
#include "spng/detector/electronics/electronics_response.h"
#include "spng/detector/field_response.h"
#include "spng/io/data_file_reader.h"

#include <string>
#include <vector>

namespace spng {

struct FieldResponseConfig {
    std::string filename;
    std::string source;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&FieldResponseConfig::filename, "filename", "", required(),
                  "field response file (.json, .json.bz2, .json.gz), found on the data path"),
            field(&FieldResponseConfig::source, "source", "", any(),
                  "public repository of the file, for the error if it is not found; empty: unknown"));
    }
};

/// Registered as "FieldResponse".
class FieldResponseComponent : public ServiceWith<FieldResponseConfig>, public DataFileReader {
public:
    void prepare(Environment& environment) override;
    const FieldResponse& response() const { return m_response; }

private:
    const std::string& data_file_name() const override { return config().filename; }
    std::string data_file_source() const override { return config().source; }

    FieldResponse m_response;
};

/// A service with the response of the electronics of a plane: ColdElecResponse, WarmElecResponse or JsonElecResponse.
class ElecResponse : public Service {
public:
    /// Return the electronics, with gain and samples in mV/fC and times in ns.
    virtual Electronics electronics() const = 0;
    /// Return the length of the sampled response [ns].
    virtual double duration() const = 0;
};

struct ElecModelConfig {
    double gain = 0;
    double shaping = 2200;
    double postgain = 1;
    double duration = 50000;
    static constexpr auto fields() {
        using C = ElecModelConfig;
        return std::make_tuple(
            field(&C::gain, "gain", "MV/e", required(above(0)),
                  "14*wc.mV/wc.fC for example; of ColdElecResponse the peak of the response to a short "
                  "pulse, of "
                  "WarmElecResponse 2.044 times it"),
            field(&C::shaping, "shaping", "ns", above(0), "nominal peaking time"),
            field(&C::postgain, "postgain", "1", any(), "gain of the stages behind the shaper"),
            field(&C::duration, "duration", "ns", above(0), "length of the sampled response"));
    }
};

/// Registered as "ColdElecResponse".
class ColdElecResponse : public Configured<ElecResponse, ElecModelConfig> {
public:
    Electronics electronics() const override;
    double duration() const override { return config().duration; }
};

/// Registered as "WarmElecResponse".
class WarmElecResponse : public Configured<ElecResponse, ElecModelConfig> {
public:
    Electronics electronics() const override;
    double duration() const override { return config().duration; }
};

struct JsonElecResponseConfig {
    std::string filename;
    std::string source;
    double postgain = 1;
    static constexpr auto fields() {
        using C = JsonElecResponseConfig;
        return std::make_tuple(field(&C::filename, "filename", "", required(),
                                     "file of samples (.json, .json.bz2, .json.gz), found on the data path: "
                                     "times [ns] and amplitudes [MV/e]"),
                               field(&C::source, "source", "", any(),
                                     "public repository of the file, for the error if it is not found; "
                                     "empty: unknown"),
                               field(&C::postgain, "postgain", "1", any(), "factor of the samples"));
    }
};

/// Registered as "JsonElecResponse". Samples are interpolated linearly; the response is 0 before the first and after
/// the last.
class JsonElecResponse : public Configured<ElecResponse, JsonElecResponseConfig>, public DataFileReader {
public:
    void prepare(Environment& environment) override;
    Electronics electronics() const override { return m_electronics; }
    double duration() const override;

private:
    const std::string& data_file_name() const override { return config().filename; }
    std::string data_file_source() const override { return config().source; }

    Electronics m_electronics;
};

} // namespace spng
