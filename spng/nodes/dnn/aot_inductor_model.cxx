// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/aot_inductor_model.h"

#include "spng/core/error.h"
#include "spng/core/shared_library.h"
#include "spng/nodes/dnn/model_archive.h"
#include "spng/nodes/dnn/model_failure.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/version.h>

#include <sys/utsname.h>

namespace spng {
namespace {

using Package = torch::inductor::AOTIModelPackageLoader;
using PackageMetadata = std::unordered_map<std::string, std::string>;

constexpr const char* network_name = "model"; // default of aoti_compile_and_package
constexpr const char* whole_package = "a whole AOTInductor package (.pt2) of LibTorch " TORCH_VERSION;

class AotInductorModel : public Model {
public:
    AotInductorModel(std::unique_ptr<Package> package, ModelMetadata metadata, std::string file)
        : Model(std::move(metadata), std::move(file)), m_package(std::move(package)) {}

    at::Tensor forward(const at::Tensor& input) const override {
        const c10::AutoGradMode no_gradients(false);
        std::vector<at::Tensor> outputs;
        try {
            outputs = m_package->run({input.contiguous()});
        } catch (const std::exception& failure) {
            throw_forward_failure(failure, file(), input);
        }
        if (outputs.size() != 1) {
            throw_wrong_output(std::to_string(outputs.size()) + " tensors", file());
        }
        return outputs[0];
    }

private:
    // run() waits for a free runner.
    std::unique_ptr<Package> m_package;
};

std::string entry(const PackageMetadata& metadata, const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? "" : found->second;
}

/// Throw Error(Model) if the package was compiled for another kind of device or processor.
void require_platform(const PackageMetadata& metadata, const std::filesystem::path& file,
                      c10::Device device) {
    const std::string target = entry(metadata, "AOTI_DEVICE_KEY");
    const std::string expected = device.is_cuda() ? "cuda" : "cpu";
    if (!target.empty() && target != expected) {
        throw Error(ErrorKind::Model,
                    {.what = "the network was compiled for another kind of device",
                     .where = file.string(),
                     .seen = target,
                     .expected = expected,
                     .hint = "export it for " + expected + ", or run with -A device=" + target});
    }
    utsname here{};
    uname(&here);
    const std::string machine = entry(metadata, "AOTI_MACHINE");
    if (!machine.empty() && machine != here.machine) {
        throw Error(ErrorKind::Model, {.what = "the network was compiled for another processor",
                                       .where = file.string(),
                                       .seen = machine,
                                       .expected = here.machine,
                                       .hint = "export it on a machine with this processor"});
    }
}

/// Load libtorch.so. The code in packages links to it, but this program does not, and it is not in the
/// loader's search path. A LibTorch for CUDA also loads the CUDA libraries, even for a network on the CPU.
void load_package_dependencies(const std::filesystem::path& file) {
    const SharedLibrary library("libtorch.so", SharedLibrary::Symbols::global);
    if (!library.is_open()) {
        throw Error(ErrorKind::Model,
                    {.what = "LibTorch lacks libraries for AOTInductor packages",
                     .where = file.string(),
                     .seen = library.problem(),
                     .expected = "libtorch.so and its dependencies beside libtorch_cpu.so",
                     .hint = "./wcb setup --full, or use the TorchScript file of this network"});
    }
}

} // namespace

std::unique_ptr<const Model> load_aot_inductor(const std::filesystem::path& file, c10::Device device,
                                               std::int64_t runners) {
    const auto bytes = model_file_size(file, "an AOTInductor package (.pt2)");
    try {
        require_whole_archive(file, whole_package);
        const c10::AutoGradMode no_gradients(false);
        const PackageMetadata metadata = Package::load_metadata_from_package(file.string(), network_name);
        require_platform(metadata, file, device);
        load_package_dependencies(file);
        auto package = std::make_unique<Package>(file.string(), network_name, /*run_single_threaded=*/false,
                                                 static_cast<std::size_t>(runners),
                                                 device.is_cuda() ? device.index() : -1);
        return std::make_unique<AotInductorModel>(
            std::move(package), parse_model_metadata(entry(metadata, "metadata.json"), file.string()),
            file.string());
    } catch (const Error&) {
        throw;
    } catch (const std::exception& failure) {
        throw_if_load_lacks_device(failure, file.string(), bytes, device);
        const std::string reason = failure_reason(failure);
        // Show the first paragraph; lists of the archive's entries follow.
        throw_load_failure(file, file.string(), reason.substr(0, reason.find("\n\n")), whole_package,
                           "or export it again with this release");
    }
}

} // namespace spng
