#include "spng/dnn/torch_script_model.h"

#include "spng/core/error.h"
#include "spng/core/tensor_checks.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <cctype>

namespace spng {
namespace {

/// The line of a TorchScript failure that says why; the lines before it quote the network's source, those
/// after it are a C++ stack.
std::string reason(const std::exception& failure) {
    std::string text = failure.what();
    text = text.substr(0, text.find("\nException raised from"));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
        text.pop_back();
    }
    const auto marker = text.rfind("Error: ");
    const auto begin = text.rfind('\n', marker == std::string::npos ? text.size() : marker);
    return marker == std::string::npos || begin == std::string::npos ? text.substr(0, 600)
                                                                     : text.substr(begin + 1, 600);
}

/// TorchScript hands on exceptions of operators as text only.
bool says_out_of_memory(const std::string& text) {
    for (const char* sign : {"out of memory", "can't allocate memory", "std::bad_alloc"}) {
        if (text.find(sign) != std::string::npos) {
            return true;
        }
    }
    return false;
}

class TorchScriptModel : public Model {
public:
    TorchScriptModel(torch::jit::Module module, ModelMetadata metadata, std::string file)
        : m_module(std::move(module)), m_metadata(std::move(metadata)), m_file(std::move(file)) {}

    at::Tensor forward(const at::Tensor& input) const override {
        const c10::AutoGradMode no_gradients(false);
        const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
        try {
            const c10::IValue output = m_module.get_method("forward")({input});
            if (!output.isTensor()) {
                refuse(input, "an output of type " + output.tagKind(), "one tensor");
            }
            return output.toTensor();
        } catch (const Error&) {
            throw;
        } catch (const std::exception& failure) {
            if (says_out_of_memory(failure.what())) {
                throw ModelOutOfMemory(reason(failure));
            }
            refuse(input, reason(failure), "a network that takes " + describe_tensor(input));
        }
    }

    const ModelMetadata& metadata() const override { return m_metadata; }
    const std::string& file() const override { return m_file; }

private:
    [[noreturn]] void refuse(const at::Tensor& input, const std::string& seen,
                             const std::string& expected) const {
        const bool wants_cuda = input.is_cpu() && (seen.find("CUDA") != std::string::npos ||
                                                   seen.find("cuda") != std::string::npos);
        throw Error(ErrorKind::Model,
                    {.what = "the network does not work on the input of this job",
                     .where = m_file,
                     .seen = seen,
                     .expected = expected,
                     .mend = wants_cuda
                                 ? "this model was traced for CUDA: save it again from the CPU, or run "
                                   "it with -A device=cuda"
                                 : "check the number and order of features, transpose, and the shape"});
    }

    torch::jit::Module m_module;
    ModelMetadata m_metadata;
    std::string m_file;
};

} // namespace

std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(file, problem);
    if (problem) {
        throw Error(ErrorKind::Model, {.what = "cannot read a model file",
                                       .where = file.string(),
                                       .seen = problem.message(),
                                       .expected = "a TorchScript file",
                                       .mend = {}});
    }
    torch::jit::ExtraFilesMap extra{{"metadata.json", ""}};
    try {
        const c10::AutoGradMode no_gradients(false);
        torch::jit::Module module = torch::jit::load(file.string(), device, extra);
        module.eval();
        module = torch::jit::freeze(module);
        return std::make_unique<TorchScriptModel>(
            std::move(module), parse_model_metadata(extra["metadata.json"], file.string()), file.string());
    } catch (const Error&) {
        throw;
    } catch (const std::exception& failure) {
        throw Error(ErrorKind::Model,
                    {.what = "cannot load a model file",
                     .where = file.string(),
                     .seen = std::to_string(bytes) + " bytes; " + reason(failure),
                     .expected = "a whole TorchScript file of a LibTorch not newer than " TORCH_VERSION,
                     .mend = "compare its size and checksum with the original, and copy it again"});
    }
}

} // namespace spng
