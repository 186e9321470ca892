// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDepoFileSource: read events of depositions from files of the Wire-Cell Toolkit.

#include "spng/graph/node.h"
#include "spng/io/file_user.h"
#include "spng/nodes/sim/depos/depo_reader.h"

#include <cstdint>
#include <memory>
#include <string>

namespace spng {

struct DepoFileSourceConfig {
    std::string inname;
    int nevents = -1;
    static constexpr auto fields() {
        using C = DepoFileSourceConfig;
        return std::make_tuple(
            field(&C::inname, "inname", "", required(),
                  "file of depositions: .npz, .tar, .tar.gz or .tar.bz2"),
            field(&C::nevents, "nevents", "events", at_least(-1), "maximum number of events; -1: all"));
    }
};

/// Out: depositions of gen 0 (depo_reader.h) on the host. Each event gives one warning with the numbers of
/// depositions that checked_depositions() dropped, and one if the sign of the charge was flipped. A file
/// without any event is an error. A damaged event is an error of that event.
class DepoFileSource : public NodeWith<DepoFileSourceConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_read() const override;
    /// True after `nevents` events. The end of the file is not known before it was read.
    bool at_end() const override {
        return config().nevents >= 0 && m_events >= static_cast<std::uint64_t>(config().nevents);
    }

protected:
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<DepoReader> m_reader;
    std::uint64_t m_calls = 0;
    std::uint64_t m_events = 0;
};

/// Make the set of an event. Drop depositions that cannot be simulated (checked_depositions()), with a warning.
/// @param index   of the event in the job
/// @param logger  of the warnings
TensorSetPtr set_from(const DepoEvent& event, std::uint64_t index, const std::string& logger);

} // namespace spng
