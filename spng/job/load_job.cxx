// SPDX-License-Identifier: Apache-2.0
#include "spng/job/load_job.h"

#include "spng/core/log/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/cuda_plugin.h"
#include "spng/device/device_list.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/start_up.h"
#include "spng/job/key_changes.h"
#include "spng/job/plugins.h"

namespace spng {
namespace {

bool is_on_cuda(const std::string& device) {
    const std::string first = listed_devices(device, "SPNGContext, key device").front();
    return first == "auto" ? auto_means_cuda() : first != "cpu";
}

/// Evaluate the configuration and build its job.
/// @param may_batch  whether anodes may share tensors
/// @param batches    set to true if the configuration asked for it and may
LoadedJob evaluate(const JobRequest& request, bool may_batch, bool& batches) {
    const JsonnetQuestion question{"spng_batches_anodes", [&](const std::string& device) {
                                       batches = may_batch && is_on_cuda(device);
                                       return batches;
                                   }};
    const instrument::Stopwatch evaluation;
    LoadedJob loaded;
    {
        const instrument::StartUpPhase phase("read configuration");
        loaded.configuration = load_configuration(request.configuration, request.bindings, {question});
        change_keys(loaded.configuration.components, request.changes);
    }
    const std::string file = loaded.configuration.file.string();
    log::info("wire-cell",
              [&] { return file + " evaluated in " + std::to_string(evaluation.seconds()) + " s"; });
    for (const auto& plugin : loaded.configuration.plugins) {
        load_plugin(plugin);
    }
    const instrument::StartUpPhase phase("make components");
    loaded.job = std::make_unique<Job>(with_values(loaded.configuration.components, request.values), file,
                                       request.app);
    if (!loaded.job->about().empty()) {
        log::info("wire-cell", loaded.job->about());
    }
    return loaded;
}

} // namespace

LoadedJob load_job(const JobRequest& request) {
    bool batches = false;
    LoadedJob loaded = evaluate(request, true, batches);
    if (!batches) {
        return loaded;
    }
    if (loaded.job->fits_devices()) {
        loaded.anodes = "alike ones in one batch";
    } else {
        const std::string bytes = format_bytes(loaded.job->bytes_with_one_event());
        loaded = evaluate(request, false, batches);
        loaded.anodes =
            "one after the other; alike ones in one batch take " + bytes + ", more than the memory budget";
    }
    log::info("wire-cell", [&] { return "anodes: " + loaded.anodes; });
    return loaded;
}

} // namespace spng
