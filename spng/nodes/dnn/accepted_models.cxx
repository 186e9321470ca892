// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/accepted_models.h"

#include "spng/core/error.h"
#include "spng/io/data_path.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>

namespace spng {
namespace {

constexpr const char* variable = "SPNG_ONLY_MODELS";
constexpr std::size_t digits = 64;

struct AcceptedModels {
    std::string list; ///< name of the list; empty: every network is accepted
    std::set<std::string> checksums;
};

bool is_checksum(const std::string& text) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

AcceptedModels read_list(const std::string& list) {
    const std::filesystem::path data = own_folder("data");
    if (list == shipped_models && data.empty()) {
        throw Error(ErrorKind::Usage, {.what = "the list of accepted networks cannot be used",
                                       .where = list,
                                       .seen = "an installation without the folder data",
                                       .expected = "its file " + std::string(checksum_list),
                                       .hint = "install again, or give a list by --only-models FILE"});
    }
    const std::filesystem::path file =
        list == shipped_models ? data / checksum_list : std::filesystem::path(list);
    AcceptedModels accepted{.list = file.string(), .checksums = {}};
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (std::string checksum = line.substr(0, digits); is_checksum(checksum)) {
            accepted.checksums.insert(std::move(checksum));
        }
    }
    if (accepted.checksums.empty()) {
        throw Error(ErrorKind::Usage,
                    {.what = "the list of accepted networks cannot be used",
                     .where = file.string(),
                     .seen = stream.is_open() ? "no checksum" : "the file cannot be opened",
                     .expected = "lines as sha256sum writes them, or the word " + std::string(shipped_models),
                     .hint = "sha256sum *.ts > models.sha256"});
    }
    return accepted;
}

const AcceptedModels& of_environment() {
    static const AcceptedModels accepted = [] { // made once, also by several threads
        const char* const list = std::getenv(variable);
        return list == nullptr || *list == '\0' ? AcceptedModels{} : read_list(list);
    }();
    return accepted;
}

std::unique_ptr<const AcceptedModels>& chosen() {
    static std::unique_ptr<const AcceptedModels> accepted;
    return accepted;
}

} // namespace

void accept_only_models(const std::string& list) {
    chosen() = std::make_unique<const AcceptedModels>(read_list(list));
}

void accept_all_models() {
    chosen() = std::make_unique<const AcceptedModels>();
}

void require_accepted_model(const DataFile& file) {
    const AcceptedModels& accepted = chosen() ? *chosen() : of_environment();
    if (!accepted.list.empty() && !accepted.checksums.contains(file.sha256)) {
        throw Error(ErrorKind::Model,
                    {.what = "a network is not in the list of accepted ones",
                     .where = file.path.string(),
                     .seen = file.sha256.empty() ? "no regular file" : "SHA-256 " + file.sha256,
                     .expected = "a network of " + accepted.list,
                     .hint = "compare it with the original; add its checksum to a list of your own "
                             "(--only-models FILE) if you trust it"});
    }
}

void reject_remote_model_if_restricted(const std::string& server) {
    const AcceptedModels& accepted = chosen() ? *chosen() : of_environment();
    if (!accepted.list.empty()) {
        throw Error(ErrorKind::Model,
                    {.what = "a network on a model server is not in the list of accepted ones",
                     .where = server,
                     .seen = "a server, whose network cannot be checked",
                     .expected = "a file whose checksum is in " + accepted.list,
                     .hint = "use forward=local, or restrict the networks of the server instead"});
    }
}

} // namespace spng
