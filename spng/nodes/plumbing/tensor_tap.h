// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGTensorTap: write the sets that pass an edge of the graph to a file.

#include "spng/graph/node.h"
#include "spng/io/archive/archive_writer.h"
#include "spng/io/file_user.h"

#include <memory>
#include <string>

namespace spng {

struct TensorTapConfig {
    std::string filename;
    static constexpr auto fields() {
        return std::make_tuple(field(&TensorTapConfig::filename, "filename", "", required(),
                                     "archive of .npy members: .npz, .tar, .tar.gz or .tar.bz2"));
    }
};

/// In and out: any set, not changed. Each tensor becomes a member `<tensor>_<ident>.npy`, and each tensor
/// with channels also gives `<tensor>_ids_<ident>.npy` with the channel id of each row. Complex tensors get a
/// last axis of two: real and imaginary part. If writing fails, the file is removed and the job ends with an
/// error, even if failed events are skipped. Without events there is no file.
class TensorTap : public NodeWith<TensorTapConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_written() const override { return {config().filename}; }
    /// @throws Error(Configuration) also for an unknown ending
    void check_outputs() const override {
        FileUser::check_outputs();
        require_known_ending(config().filename);
    }
    void finish() override { m_archive->close(); }

protected:
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<ArchiveWriter> m_archive;
};

} // namespace spng
