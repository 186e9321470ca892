// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDepoFileSink: write depositions to a file that the Wire-Cell Toolkit and this program can read.

#include "spng/graph/node.h"
#include "spng/io/archive/archive_writer.h"
#include "spng/io/file_user.h"

#include <memory>
#include <string>

namespace spng {

struct DepoFileSinkConfig {
    std::string outname;
    int level = -1;
    static constexpr auto fields() {
        using C = DepoFileSinkConfig;
        return std::make_tuple(field(&C::outname, "outname", "", required(),
                                     "file of depositions: .npz, .tar, .tar.gz or .tar.bz2"),
                               field(&C::level, "level", "", between(-1, 9),
                                     "compression level, 0 (none) to 9 (smallest); -1: a fast level for the "
                                     "format"));
    }
};

/// In: depositions. Each event becomes depo_data_<ident>.npy, (n, 7) float32, and depo_info_<ident>.npy, (n,
/// 4) int32, with the shapes and types of WCT's files. The file appears under its name when the job ends.
class DepoFileSink : public NodeWith<DepoFileSinkConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_written() const override { return {config().outname}; }
    /// @throws Error(Configuration) also for an unknown ending
    void check_outputs() const override {
        FileUser::check_outputs();
        require_known_ending(config().outname);
    }
    void finish() override { m_archive->close(); }

protected:
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<ArchiveWriter> m_archive;
};

} // namespace spng
