// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/torch_script_model.h"

#include "spng/core/error.h"
#include "spng/nodes/dnn/bfloat16.h"
#include "spng/nodes/dnn/model_archive.h"
#include "spng/nodes/dnn/model_failure.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

namespace spng {
namespace {

class TorchScriptModel : public Model {
public:
    TorchScriptModel(torch::jit::Module module, ModelMetadata metadata, std::string file, bool bfloat16,
                     NetworkLayout layout)
        : Model(std::move(metadata), std::move(file)), m_module(std::move(module)), m_bfloat16(bfloat16),
          m_layout(layout) {}

    at::Tensor forward(const at::Tensor& input) const override {
        const c10::AutoGradMode no_gradients(false);
        const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
        c10::IValue output;
        try {
            output = m_bfloat16 ? forward_in_bfloat16(input) : forward_in_layout(input);
        } catch (const std::exception& failure) {
            throw_forward_failure(failure, file(), input);
        }
        if (!output.isTensor()) {
            throw_wrong_output("type " + output.tagKind(), file());
        }
        return m_bfloat16 ? output.toTensor().to(input.scalar_type()) : output.toTensor();
    }

private:
    c10::IValue forward_in_bfloat16(const at::Tensor& input) const {
        const Bfloat16Scope scope(input.device().type());
        return forward_in_layout(input);
    }

    c10::IValue forward_in_layout(const at::Tensor& input) const {
        const bool has_channels_last =
            m_layout == NetworkLayout::channels_last ||
            (m_layout == NetworkLayout::as_saved && m_bfloat16 && input.is_cuda());
        return m_module.get_method("forward")({input.contiguous(
            has_channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous)});
    }

    torch::jit::Module m_module;
    bool m_bfloat16;
    NetworkLayout m_layout;
};

} // namespace

std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device,
                                               bool bfloat16, NetworkLayout layout) {
    constexpr const char* whole_file = "a whole TorchScript file of a LibTorch not newer than " TORCH_VERSION;
    const auto bytes = model_file_size(file, "a TorchScript file");
    torch::jit::ExtraFilesMap extra{{"metadata.json", ""}};
    try {
        require_whole_archive(file, bytes, whole_file);
        const c10::AutoGradMode no_gradients(false);
        torch::jit::Module module = torch::jit::load(file.string(), device, extra);
        module.eval();
        module = torch::jit::freeze(module);
        set_layout(module, layout);
        return std::make_unique<TorchScriptModel>(std::move(module),
                                                  parse_model_metadata(extra["metadata.json"], file.string()),
                                                  file.string(), bfloat16, layout);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& failure) {
        throw_if_load_lacks_device(failure, file.string(), bytes, device);
        throw_load_failure(file.string(), bytes, failure_reason(failure), whole_file);
    }
}

} // namespace spng
