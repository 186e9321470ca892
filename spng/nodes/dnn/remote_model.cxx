// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/remote_model.h"

#include "spng/core/backoff.h"
#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/tensor_checks.h"
#include "spng/kserve/datatypes.h"
#include "spng/kserve/http_client.h"
#include "spng/nodes/dnn/model_archive.h"

#include <ATen/ops/from_blob.h>

#include <thread>
#include <utility>

namespace spng {
namespace {

using kserve::Failure;
using kserve::Status;

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{5000};
constexpr double description_seconds = 30;

/// Write the error of another program on one line: the lines of a block end with semicolons.
std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char letter : text) {
        if (letter == '\n') {
            line += ";";
        }
        const bool is_blank = letter == '\n' || letter == ' ';
        if (!is_blank || (!line.empty() && line.back() != ' ')) {
            line += is_blank ? ' ' : letter;
        }
    }
    const std::string label = "error: ";
    const auto found = line.find(label);
    return found == std::string::npos ? line : line.erase(found, label.size());
}

/// A model of a server, with what its errors need.
class Remote {
public:
    explicit Remote(RemoteModelOptions options)
        : m_options(std::move(options)),
          m_client(kserve::make_client(kserve::parse_address(m_options.server, m_options.where))) {}

    const RemoteModelOptions& options() const { return m_options; }
    std::string location() const { return m_options.server + ", model " + m_options.model; }

    kserve::ModelDescription describe() const {
        return with_retries<kserve::ModelDescription>(
            description_seconds, "look at the log of the server",
            [&](double seconds) { return m_client->describe(m_options.model, seconds); });
    }
    kserve::InferResponse infer(const kserve::InferRequest& request) const {
        return with_retries<kserve::InferResponse>(
            m_options.timeout,
            "raise the key timeout (-A network_timeout=SECONDS), or the limit of the server",
            [&](double seconds) { return m_client->infer(request, seconds); });
    }

    [[noreturn]] void reject(std::string what, std::string seen, std::string expected,
                             std::string hint) const {
        throw Error(ErrorKind::Model, {.what = std::move(what),
                                       .where = m_options.where + "; " + location(),
                                       .seen = std::move(seen),
                                       .expected = std::move(expected),
                                       .hint = std::move(hint)});
    }

private:
    /// @param seconds    of each try; 0: no limit
    /// @param late_hint  for the error of a try that takes longer
    template <class Value, class Ask>
    Value with_retries(double seconds, const char* late_hint, Ask ask) const {
        Backoff pauses(first_pause, longest_pause);
        for (int retry = 0;; ++retry) {
            kserve::Result<Value> result = ask(seconds);
            const auto* failure = std::get_if<Failure>(&result);
            if (failure == nullptr) {
                return std::move(std::get<Value>(result));
            }
            const bool may_work_later =
                failure->status == Status::unavailable || failure->status == Status::overloaded;
            if (!may_work_later || retry == m_options.retries) {
                fail(*failure, retry + 1, seconds, late_hint);
            }
            log::info(m_options.where,
                      [&] { return location() + ": " + on_one_line(failure->text) + "; trying again"; });
            std::this_thread::sleep_for(pauses.next());
        }
    }

    [[noreturn]] void fail(const Failure& failure, int tries, double seconds, const char* late_hint) const {
        const std::string seen = on_one_line(failure.text);
        const std::string after = tries > 1 ? ", after " + std::to_string(tries) + " tries" : "";
        switch (failure.status) {
        case Status::too_large:
            throw ModelOutOfMemory(location() + ": " + seen);
        case Status::unavailable:
            reject("the model server cannot be reached", seen + after,
                   "a server that speaks KServe v2 at this address",
                   "start it (wire-cell --serve), or look at the keys server and forward");
        case Status::overloaded:
            reject("the model server is busy", seen + after, "a response",
                   "run fewer jobs at once, or raise the key retries");
        case Status::timeout:
            reject("the model server does not respond", seen,
                   seconds > 0 ? "a response within " + std::to_string(static_cast<long>(seconds)) + " s"
                               : "a response in time",
                   late_hint);
        case Status::not_found:
            reject("the model server has no such model", seen, "the name of one of its models",
                   "set the key remote_model");
        case Status::invalid:
            reject("the model server rejects the input of this job", seen,
                   "a network for the images of this job",
                   "check features, transpose, multiple and probe of the service");
        case Status::failed:
            break;
        }
        reject("the network failed on the model server", seen, "the output of the network",
               "look at the log of the server");
    }

    RemoteModelOptions m_options;
    std::unique_ptr<kserve::RemoteServer> m_client;
};

class RemoteModel final : public Model {
public:
    RemoteModel(ModelMetadata metadata, Remote remote, std::string input, std::string output)
        : Model(std::move(metadata), remote.location()), m_remote(std::move(remote)),
          m_input(std::move(input)), m_output(std::move(output)) {}

    at::Tensor forward(const at::Tensor& input) const override {
        const at::Tensor features = input.to(at::kCPU).contiguous();
        kserve::InferRequest request{.model = m_remote.options().model};
        request.inputs.push_back({.name = m_input,
                                  .datatype = "FP32",
                                  .shape = features.sizes().vec(),
                                  .data = features.const_data_ptr(),
                                  .bytes = features.nbytes()});
        request.outputs.push_back({m_output});
        return tensor_of(m_remote.infer(request)).to(input.device());
    }

private:
    at::Tensor tensor_of(kserve::InferResponse response) const {
        const auto found = std::find_if(response.outputs.begin(), response.outputs.end(),
                                        [&](const kserve::Tensor& each) { return each.name == m_output; });
        if (found == response.outputs.end() || found->datatype != "FP32") {
            m_remote.reject("the model server does not return the output of the network",
                            found == response.outputs.end()
                                ? std::to_string(response.outputs.size()) + " other outputs"
                                : kserve::describe(found->datatype, found->shape),
                            m_output + " FP32", "compare GET /v2/models/" + m_remote.options().model);
        }
        try {
            kserve::require_bytes_of_shape(*found, "output " + m_output);
        } catch (const Error& error) {
            m_remote.reject("the model server does not return the output of the network", error.text().seen,
                            error.text().expected, "look at the log of the server");
        }
        // Written by nobody: the caller copies from it.
        const at::Tensor view = at::from_blob(
            const_cast<void*>(found->data), found->shape, [owner = found->owner](void*) {}, at::kFloat);
        const bool is_aligned = reinterpret_cast<std::uintptr_t>(found->data) % alignof(float) == 0;
        return is_aligned ? view : view.clone();
    }

    Remote m_remote;
    std::string m_input, m_output;
};

std::string property(const kserve::ModelDescription& model, const char* name) {
    const auto found = model.properties.find(name);
    return found == model.properties.end() ? "" : found->second;
}

void require_same_network(const Remote& remote, const kserve::ModelDescription& model,
                          const DataFile* local) {
    const std::string checksum = property(model, "sha256");
    if (local != nullptr && !checksum.empty() && checksum != local->sha256) {
        remote.reject("the model server has another network than the file of this job", "SHA-256 " + checksum,
                      local->sha256 + " of " + local->path.string(),
                      "install the same file on both machines, or name another model");
    }
}

/// Return the name of the one FP32 tensor.
const std::string& single(const Remote& remote, const std::vector<kserve::TensorDescription>& tensors,
                          const char* kind) {
    if (tensors.empty()) {
        remote.reject(
            "the model server does not tell what its model takes and returns",
            std::string("no ") + kind + " in its description", "one, of type FP32",
            "declare inputs and outputs in the configuration of the model (MLServer: model-settings.json, "
            "Triton: config.pbtxt)");
    }
    if (tensors.size() != 1 || tensors.front().datatype != "FP32") {
        remote.reject("the model of the server is no network for DNNROI",
                      std::to_string(tensors.size()) + " " + kind + ", the first one " +
                          tensors.front().name + " " + tensors.front().datatype,
                      "one of type FP32", "set the key remote_model");
    }
    return tensors.front().name;
}

std::string metadata_of(const kserve::ModelDescription& model, const DataFile* local) {
    return local != nullptr ? torch_script_metadata(local->path) : property(model, "metadata");
}

} // namespace

RemoteNetwork connect_model(const RemoteModelOptions& options, const DataFile* local) {
    Remote remote(options);
    const kserve::ModelDescription description = remote.describe();
    require_same_network(remote, description, local);
    ModelMetadata metadata = parse_model_metadata(metadata_of(description, local), remote.location());
    std::optional<DataFile> file;
    if (!property(description, "sha256").empty()) {
        file = DataFile{.role = "model",
                        .path = property(description, "file"),
                        .sha256 = property(description, "sha256"),
                        .metadata = metadata.text};
    }
    std::string input = single(remote, description.inputs, "inputs");
    std::string output = single(remote, description.outputs, "outputs");
    return {std::make_unique<const RemoteModel>(std::move(metadata), std::move(remote), std::move(input),
                                                std::move(output)),
            std::move(file)};
}

} // namespace spng
