// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChannelList: channels that are known to be bad, and limits of the noise of channels.

#include "spng/core/component.h"
#include "spng/io/data_file_reader.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace spng {

/// Limits of the RMS of a channel [ADC]; NaN: none.
struct RmsCuts {
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = std::numeric_limits<double>::quiet_NaN();
};

struct ChannelLists {
    std::vector<int> bad;
    std::map<int, RmsCuts> cuts; ///< by channel
};

/// Read a channel noise database of the Wire-Cell Toolkit (data of OmniChannelNoiseDB) as JSON, plain or compressed:
/// {"bad": [ids], "channel_info": [{"channels": ids, "min_rms_cut": ADC, "max_rms_cut": ADC}]}. Each key may be
/// missing, and other keys are ignored. `channels` is an id, a list of ids, or {"first": id, "last": id}. For a
/// channel in several entries the last value is used.
/// @throws Error(Configuration) for an unreadable file, one with neither list, and other types of values
ChannelLists load_channel_lists(const std::string& path);

struct ChannelListConfig {
    std::string filename;
    std::vector<int> bad;
    std::string wire_schema = "WireSchemaFile";
    static constexpr auto fields() {
        using C = ChannelListConfig;
        return std::make_tuple(
            field(&C::filename, "filename", "", any(),
                  "JSON file with the lists \"bad\" and \"channel_info\" (min_rms_cut, max_rms_cut) of the "
                  "Wire-Cell Toolkit's OmniChannelNoiseDB; empty: none"),
            field(&C::bad, "bad", "", any(), "channels that are bad too"),
            field(&C::wire_schema, "wire_schema", "", not_empty(), "name of the WireSchemaFile component"));
    }
};

class ChannelList : public ServiceWith<ChannelListConfig>, public DataFileReader {
public:
    /// @throws Error(Configuration) for channels that are not in the wire file; names them
    void prepare(Environment& environment) override;

    /// Return the bad channels, ascending, each once. A list may have channels of anodes that are not in the job.
    const std::vector<int>& bad() const { return m_lists.bad; }
    const std::map<int, RmsCuts>& cuts() const { return m_lists.cuts; }

private:
    const std::string& data_file_name() const override { return config().filename; }

    ChannelLists m_lists;
};

} // namespace spng
