// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/torch_service.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/core/registry.h"
#include "spng/device/bfloat16.h"
#include "spng/device/context.h"
#include "spng/instrument/start_up.h"
#include "spng/nodes/dnn/accepted_models.h"
#include "spng/nodes/dnn/aot_inductor_model.h"
#include "spng/nodes/dnn/model_archive.h"
#include "spng/nodes/dnn/model_probe.h"
#include "spng/nodes/dnn/network_choice.h"
#include "spng/nodes/dnn/network_tiles.h"
#include "spng/nodes/dnn/remote_model.h"
#include "spng/nodes/dnn/watch/output_watch.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

namespace spng {
namespace {

const Registration<TorchService> registration{
    {.type = "SPNGTorchService", .kind = "service", .text = "trained network, shared by nodes"}};

bool is_package(const std::filesystem::path& file) {
    return file.extension() == ".pt2"; // in the precision and layout of its compilation
}

/// Whether a TorchScript network runs in bfloat16.
bool wants_bfloat16(const Context& context, const std::string& service) {
    const bool bfloat16 = context.fast() && has_bfloat16(context.device());
    if (context.fast()) {
        log::info(service, bfloat16 ? "precision=fast: bfloat16"
                                    : "precision=fast: float32, because this machine has no instructions for "
                                      "bfloat16");
    }
    return bfloat16;
}

/// The layout of the configuration; as_saved for auto.
NetworkLayout layout_of(const std::string& name) {
    return name == "contiguous"      ? NetworkLayout::contiguous
           : name == "channels_last" ? NetworkLayout::channels_last
                                     : NetworkLayout::as_saved;
}

/// A network whose forwards have a limit each.
class LimitedModel final : public Model {
public:
    LimitedModel(std::unique_ptr<const Model> model, TimeLimit& limit)
        : Model(model->metadata(), model->file()), m_model(std::move(model)), m_limit(limit) {}
    at::Tensor forward(const at::Tensor& input) const override {
        const TimeLimit::Call call(m_limit);
        return m_model->forward(input);
    }

private:
    std::unique_ptr<const Model> m_model;
    TimeLimit& m_limit;
};

} // namespace

void TorchService::configured() {
    if (config().probe.size() != 3) {
        reject("probe", std::to_string(config().probe.size()) + " values", "three: view, channel, tick");
    }
    if (is_remote() == config().server.empty()) {
        reject("server", "'" + config().server + "' with forward=" + config().forward,
               "an address for forward=kserve, none for forward=local");
    }
}

DataFile& TorchService::identify_model() {
    try {
        DataFile& file = identify_file("model");
        require_accepted_model(file);
        return file;
    } catch (const Error& error) {
        // A missing or changed model file is an Error(Model).
        Error failure(ErrorKind::Model, error.text());
        failure.add_where(at_key("model"));
        throw failure;
    }
}

void TorchService::prepare(Environment& environment) {
    const auto& context = environment.service<Context>(context_name, name().text());
    is_remote() ? prepare_remote(context) : prepare_local(context);
    try_out(context.device());
}

void TorchService::prepare_local(const Context& context) {
    DataFile& file = identify_model();
    m_limit = std::make_unique<TimeLimit>(
        std::chrono::seconds(config().timeout),
        Error(ErrorKind::Model,
              {.what = "the network does not return",
               .where = name().text() + ", " + file.path.string(),
               .seen = "no result after " + std::to_string(config().timeout) + " s",
               .expected = "one forward in less time (-A network_timeout=SECONDS; 0: no limit)",
               .hint = "a network with an endless loop cannot be stopped; ask its author"}));
    const bool bfloat16 = !is_package(file.path) && wants_bfloat16(context, name().text());
    const bool measures = config().layout == "auto" && context.device().is_cuda() && !is_package(file.path);
    const std::string key =
        c10::str(file.path.string(), bfloat16 ? " bfloat16 " : " float32 ", c10::IntArrayRef(config().probe));
    const NetworkLayout layout =
        measures ? chosen_layout(key).value_or(NetworkLayout::contiguous) : layout_of(config().layout);
    auto model = [&] {
        const instrument::StartUpPhase phase("load network");
        return load(file.path, context.device(), bfloat16, layout);
    }();
    file.metadata = model->metadata().text;
    m_notes = notes_of(file);
    note_properties(*model);
    const c10::InferenceMode no_gradients;
    const ModelRunnerOptions options = runner_options(context, model->metadata());
    m_runner = measures ? faster_runner(key, std::move(model), options, bfloat16)
                        : std::make_unique<const ModelRunner>(std::move(model), options);
}

void TorchService::prepare_remote(const Context& context) {
    reject_remote_model_if_restricted(at_key("server") + ", " + config().server);
    DataFile* const local = files_read().empty() ? nullptr : &identify_file("model");
    RemoteNetwork network = [&] {
        const instrument::StartUpPhase phase("connect to model server");
        return connect_model({.server = config().server,
                              .model = remote_name(),
                              .where = at_key("server"),
                              .timeout = static_cast<double>(config().timeout),
                              .retries = static_cast<int>(config().retries)},
                             local);
    }();
    if (local != nullptr) {
        local->metadata = network.model->metadata().text;
    }
    if (network.file) {
        m_notes = notes_of(*network.file); // the same as of a local network
    } else {
        m_notes = local != nullptr ? notes_of(*local) : Notes{{"model", remote_name()}};
        m_notes["forward"] = "by a model server that does not report the checksum of its network";
    }
    note_properties(*network.model);
    const c10::InferenceMode no_gradients;
    ModelRunnerOptions options = runner_options(context, network.model->metadata());
    options.memory_budget = 0; // the memory of a forward is that of the server
    m_runner = std::make_unique<const ModelRunner>(std::move(network.model), options);
}

std::string TorchService::remote_name() const {
    return config().remote_model.empty() ? std::filesystem::path(config().model).stem().string()
                                         : config().remote_model;
}

void TorchService::note_properties(const Model& model) {
    m_features = features_of(model);
    m_sizes = {config().probe[0], static_cast<std::int64_t>(m_features.size()), config().probe[1],
               config().probe[2]};
    if (model.metadata().stand_in) {
        m_notes["stand-in"] = "made by hand for tests, not a trained network";
        log::warn(name().text(), model.file() +
                                     " is a stand-in made by hand for tests, not a trained network; do not "
                                     "use its ROIs for physics");
    }
    m_meter = std::make_unique<instrument::NodeMeter>(
        instrument::NodeIdentity{name().type, name().instance, "service"});
}

ModelRunnerOptions TorchService::runner_options(const Context& context, const ModelMetadata& metadata) const {
    return {.name = name().text(),
            .device = context.device(),
            .fast = context.fast(),
            .sizes = m_sizes,
            .transpose = metadata.transpose.value_or(config().transpose),
            .multiple = metadata.multiple.value_or(config().multiple),
            .halo = config().halo >= 0 ? config().halo : metadata.halo.value_or(-1),
            .concurrency = config().concurrency,
            .memory_budget = config().memory_budget > 0 ? config().memory_budget : context.network_budget(),
            .chunk_ticks = config().chunk_ticks};
}

std::unique_ptr<const Model> TorchService::load(const std::filesystem::path& file, c10::Device device,
                                                bool bfloat16, NetworkLayout layout) const {
    const TimeLimit::Call call(*m_limit);
    return std::make_unique<const LimitedModel>(is_package(file)
                                                    ? load_aot_inductor(file, device, config().concurrency)
                                                    : load_torch_script(file, device, bfloat16, layout),
                                                *m_limit);
}

std::unique_ptr<const ModelRunner> TorchService::faster_runner(const std::string& key,
                                                               std::unique_ptr<const Model> model,
                                                               const ModelRunnerOptions& options,
                                                               bool bfloat16) {
    if (const auto layout = chosen_layout(key)) {
        m_notes["layout"] = to_string(*layout);
        return std::make_unique<const ModelRunner>(std::move(model), options);
    }
    const instrument::StartUpPhase phase("choose layout of network");
    const std::filesystem::path file = model->file();
    const at::Tensor features = probe_features(m_sizes, options.device);
    ChosenNetwork chosen = fastest_network(
        key, bfloat16,
        [&](NetworkForm form) {
            const bool is_loaded =
                model && form.bfloat16 == bfloat16 && form.layout == NetworkLayout::contiguous;
            return std::make_unique<const ModelRunner>(
                is_loaded ? std::move(model) : load(file, options.device, form.bfloat16, form.layout),
                options);
        },
        [&](const ModelRunner& runner) { return forward_time(runner, features); });
    const std::string layout = to_string(chosen.form.layout);
    log::info(name().text(), [&] { return "memory layout " + layout + ": " + chosen.reason; });
    m_notes["layout"] = layout;
    return std::move(chosen.runner);
}

std::vector<std::string> TorchService::features_of(const Model& model) const {
    const auto& inputs = model.metadata().inputs;
    const auto& given = config().features;
    if (given.empty()) {
        return inputs.empty() ? std::vector<std::string>{"loose", "mp2", "mp3"} : inputs;
    }
    if (!inputs.empty() && inputs != given) {
        throw Error(ErrorKind::Model, {.what = "the network was trained with other features or another order",
                                       .where = at_key("features") + "; " + model.file(),
                                       .seen = joined(given),
                                       .expected = joined(inputs),
                                       .hint = "set features to the expected list"});
    }
    return given;
}

std::vector<std::string> TorchService::known_features() const {
    if (!config().features.empty()) {
        return config().features;
    }
    const auto files = files_read();
    try {
        return files.empty()
                   ? std::vector<std::string>{}
                   : parse_model_metadata(torch_script_metadata(files.front()), config().model).inputs;
    } catch (const Error&) {
        return {}; // prepare() reports it
    }
}

at::Tensor TorchService::forward(const at::Tensor& features) const {
    instrument::NestedCall call(*m_meter);
    NVTX_SCOPED_RANGE("TorchService::forward");
    at::Tensor probability = m_runner->forward(features);
    call.count_bytes(features.nbytes(), probability.nbytes());
    return probability;
}

void TorchService::try_out(c10::Device device) const {
    const instrument::StartUpPhase phase("try network");
    const auto try_with = [&](const std::vector<std::int64_t>& sizes) {
        // Not TorchService::forward, which would measure and annotate the call.
        const at::Tensor probability = m_runner->forward(probe_features(sizes, device));
        OutputWatch(name().text(), m_runner->model().file(), /*is_error=*/false)
            .observe(extremes_of(probability).cpu());
    };
    const auto multiple = m_runner->model().metadata().multiple;
    if (device.is_cpu() && !is_remote() && multiple) {
        std::vector<std::int64_t> piece = m_sizes;
        piece[3] = std::min(piece[3], rounded_up(64, *multiple));
        try {
            return try_with(piece);
        } catch (const Error&) { // a network of one length
        }
    }
    try_with(m_sizes);
}

std::string TorchService::capture_rejection() const {
    if (is_remote()) {
        return "the network runs on a server";
    }
    // Capturing the kernel launches of compiled packages was never tested.
    return std::filesystem::path(m_runner->model().file()).extension() == ".pt2"
               ? "the network is an AOTInductor package"
               : "";
}

} // namespace spng
