#pragma once
// SPNGTensorTap: put into any edge, writes what passes to a file.

#include "spng/graph/node.h"
#include "spng/io/archive_writer.h"

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
/// tensor of channels
/// `<tensor>_ids_<ident>.npy` with the channel number of each row. Complex tensors get a last axis of two: real and imaginary part.
class TensorTap : public NodeWith<TensorTapConfig> {
public:
    void finish() override;

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<ArchiveWriter> m_archive;
};

} // namespace spng
