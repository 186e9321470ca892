// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/grpc_plugin.h"

#include "spng/core/error.h"
#include "spng/core/shared_library.h"

#include <filesystem>

namespace spng::kserve {
namespace {

constexpr const char* file_name = "libWireCellSpngGrpc.so";

[[noreturn]] void reject(const std::string& file, const std::string& seen, const std::string& hint) {
    throw Error(ErrorKind::Configuration, {.what = "this build cannot speak gRPC",
                                           .where = file,
                                           .seen = seen,
                                           .expected = "the library of gRPC beside that of wire-cell",
                                           .hint = hint});
}

const GrpcPlugin& load() {
    const std::filesystem::path own = SharedLibrary::file_of(&grpc_plugin);
    const std::string file = (own.parent_path() / file_name).string();
    if (!std::filesystem::exists(file)) {
        reject(file, "no such file", "use HTTP, or build with gRPC (./wcb setup, ./wcb configure)");
    }
    const SharedLibrary library(file, SharedLibrary::Symbols::own);
    if (!library.is_open()) {
        reject(file, library.problem(), "install the libraries of gRPC (apt: libgrpc++1.51), or use HTTP");
    }
    const auto function = library.find<const GrpcPlugin* (*)()>(grpc_plugin_function);
    if (function == nullptr || function()->abi != grpc_abi) {
        reject(file, "a library of another build", "build again (./wcb), or install again");
    }
    return *function();
}

} // namespace

const GrpcPlugin& grpc_plugin() {
    static const GrpcPlugin& plugin = load();
    return plugin;
}

std::unique_ptr<RemoteServer> make_grpc_client(const Address& address) {
    return grpc_plugin().connect(address);
}

} // namespace spng::kserve
