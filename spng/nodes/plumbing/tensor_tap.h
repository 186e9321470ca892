#pragma once
// SPNGTensorTap: put into any edge, writes what passes to a file.

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

/// Passes each set on as it is, after writing its tensors as members `<tensor>_<ident>.npy`, and beside each
/// tensor of channels `<tensor>_ids_<ident>.npy` with the channel number of each row. Complex tensors get a
/// last axis of two: real and imaginary part. When writing fails, the file is gone and the job ends with an
/// error, also where failed events are skipped; without an event there is no file.
class TensorTap : public NodeWith<TensorTapConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_written() const override { return {config().filename}; }
    void finish() override;

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<ArchiveWriter> m_archive;
    bool m_wrote_an_event = false;
};

} // namespace spng
