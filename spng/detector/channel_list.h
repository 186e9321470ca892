// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChannelList: channels that are known to be bad, limits of the noise of channels, and channels with other
// electronics.

#include "spng/core/component.h"
#include "spng/detector/electronics/electronics_response.h"
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

/// Electronics of channels that differ from those of the detector.
struct ChannelElectronics {
    double gain = 0;    ///< [MV/e]
    double shaping = 0; ///< [ns]
    /// The electronics to which the list wants to bring the channel; NaN: those of the detector
    double nominal_gain = std::numeric_limits<double>::quiet_NaN();
    double nominal_shaping = std::numeric_limits<double>::quiet_NaN();
};

struct ChannelLists {
    std::vector<int> bad;
    std::map<int, RmsCuts> cuts;                   ///< by channel
    std::map<int, ChannelElectronics> electronics; ///< by channel
    bool has_reconfig = false;                     ///< an entry names electronics, if only nominal ones
};

/// Read a channel noise database of the Wire-Cell Toolkit (data of OmniChannelNoiseDB) as JSON, plain or compressed:
/// {"bad": [ids], "channel_info": [{"channels": ids, "min_rms_cut": ADC, "max_rms_cut": ADC,
/// "reconfig": {"from": {"gain": MV/e, "shaping": ns}, "to": {...}}}]}. Each key may be missing, `to` too; an
/// empty `reconfig` means the electronics of the detector; other keys are ignored. `channels` is an id, a list of
/// ids, or {"first": id, "last": id}. For a
/// channel in several entries the last value is used.
/// @throws Error(Configuration) for an unreadable file, one with neither list, and other types of values
ChannelLists load_channel_lists(const std::string& path);

struct ChannelResponseEntry {
    std::vector<int> channels;
    double gain = 0;
    double shaping = 0;
    static constexpr auto fields() {
        using C = ChannelResponseEntry;
        return std::make_tuple(
            field(&C::channels, "channels", "", required(), "ids of the channels"),
            field(&C::gain, "gain", "MV/e", required(above(0)),
                  "gain, with the same meaning as in ColdElecResponse or WarmElecResponse"),
            field(&C::shaping, "shaping", "ns", required(above(0)), "their nominal peaking time"));
    }
};

struct ChannelListConfig {
    std::string filename;
    std::vector<int> bad;
    std::vector<ChannelResponseEntry> channel_response;
    std::string wire_schema = "WireSchemaFile";
    static constexpr auto fields() {
        using C = ChannelListConfig;
        return std::make_tuple(
            field(
                &C::filename, "filename", "", any(),
                "JSON file with the lists \"bad\" and \"channel_info\" (min_rms_cut, max_rms_cut, reconfig) "
                "of the Wire-Cell Toolkit's OmniChannelNoiseDB; empty: none"),
            field(&C::bad, "bad", "", any(), "channels that are bad too"),
            field(&C::channel_response, "channel_response", "", any(),
                  "channels whose electronics differ from those of the detector; a file with "
                  "reconfig replaces this list"),
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
    const std::map<int, ChannelElectronics>& electronics() const { return m_lists.electronics; }

    /// Check that the electronics of the channels can be brought to `nominal`.
    /// @throws Error(Configuration) if a gain or a shaping time differs by more than a factor 100, as in other units,
    /// if the list wants other electronics, or if `nominal` are samples, which have no gain
    void require_electronics_near(const Electronics& nominal) const;

private:
    const std::string& data_file_name() const override { return config().filename; }

    ChannelLists m_lists;
};

} // namespace spng
