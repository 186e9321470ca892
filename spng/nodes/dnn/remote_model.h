// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks on a model server that speaks the Open Inference Protocol (KServe v2): wire-cell --serve, Triton,
// KServe, MLServer.

#include "spng/io/data_file.h"
#include "spng/nodes/dnn/model.h"

#include <memory>
#include <optional>
#include <string>

namespace spng {

struct RemoteModelOptions {
    std::string server; ///< address, see kserve::parse_address()
    std::string model;  ///< its name there
    std::string where;  ///< service and key, for errors
    double timeout = 0; ///< of one request [s]; 0: no limit
    int retries = 0;    ///< after a lost connection, and while the server is busy
};

/// A network on a server, and the file that the server reports.
struct RemoteNetwork {
    std::unique_ptr<const Model> model;
    std::optional<DataFile> file; ///< name and checksum; empty if the server does not tell
};

/// Connect to a server. Inputs of a forward are copied to it, outputs to the device of the input. A server
/// that rejects an input as too large is out of memory (ModelOutOfMemory), so that the runner sends smaller
/// tiles.
/// @param local  file of the network on this machine, whose metadata are used; null: those of the server
/// @throws Error(Model) if the server cannot be reached, has no such model, another one than the local file,
///         or one that does not take and give one FP32 tensor
RemoteNetwork connect_model(const RemoteModelOptions& options, const DataFile* local);

} // namespace spng
