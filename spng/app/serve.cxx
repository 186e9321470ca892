// SPDX-License-Identifier: Apache-2.0
#include "spng/app/serve.h"

#include "spng/app/print.h"
#include "spng/app/signals.h"
#include "spng/core/log/log.h"
#include "spng/core/log/log_file.h"
#include "spng/instrument/control/time_limit.h"
#include "spng/instrument/report/run_report.h"
#include "spng/kserve/grpc_plugin.h"
#include "spng/nodes/dnn/torch_service.h"
#include "spng/serve/chain_model.h"
#include "spng/serve/http_server.h"
#include "spng/serve/model_server.h"
#include "spng/serve/network_model.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace spng::app {
namespace {

constexpr int io_threads = 3;
constexpr std::chrono::milliseconds poll_interval{50}; // of the signal, which an atomic variable holds
constexpr double drain_seconds = 1e7;                  // without --serve-timeout
constexpr double close_seconds = 10;                   // for responses that are written at the end

/// Return the file's name without folder and ending, as the name of a model.
std::string stem_of(const std::filesystem::path& file) {
    std::string name = file.stem().string();
    std::replace_if(
        name.begin(), name.end(),
        [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-'; }, '_');
    return name;
}

/// Make a model of each network of the job that runs in this process.
std::vector<std::unique_ptr<NetworkModel>> network_models(const Job& job, const std::string& chain,
                                                          std::size_t max_waiting) {
    std::vector<std::unique_ptr<NetworkModel>> models;
    std::set<std::string> names{chain};
    for (const auto& component : job.environment().components()) {
        const auto* const service = dynamic_cast<const TorchService*>(component.get());
        if (service != nullptr && !service->is_remote() &&
            names.insert(stem_of(service->config().model)).second) { // groups of views share a network
            models.push_back(
                std::make_unique<NetworkModel>(stem_of(service->config().model), *service, max_waiting));
        }
    }
    return models;
}

void warn_if_open(const kserve::Address& address) {
    if (!address.is_local()) {
        log::warn("server", address.text() +
                                " can be reached from other machines, without encryption and password; "
                                "see docs/security.md#requests-to-a-server");
    }
}

std::unique_ptr<kserve::Listener> listen(const kserve::Address& address, IoThreads& threads,
                                         const HttpServices& services, const ServeLimits& limits) {
    warn_if_open(address);
    if (address.protocol == kserve::Address::Protocol::http) {
        return serve_http(threads, address, services, limits);
    }
    const kserve::GrpcPlugin& grpc = kserve::grpc_plugin();
    if (address.is_unix()) {
        require_free_socket(address.path);
    }
    auto listener = grpc.listen(address, services.handler,
                                {limits.max_bytes, limits.max_connections, limits.idle_seconds});
    if (const auto* failure = std::get_if<kserve::Failure>(&listener)) {
        reject_address(address, failure->text, "give another one; port 0 takes a free port");
    }
    return std::move(std::get<0>(listener));
}

/// Wait for a signal or the end of the job.
void wait_for_end(const FrameJob& frames) {
    while (stop_signal() == 0 && !frames.job().queue().end_reason()) {
        std::this_thread::sleep_for(poll_interval);
    }
}

/// Finish the requests and return the exit status.
int finish(const FrameJob& frames, ModelServer& server,
           const std::vector<std::unique_ptr<kserve::Listener>>& listeners, double request_seconds) {
    alarm(0); // the limit for a run that stops between two calls of nodes; here requests have theirs
    server.begin_draining();
    for (const auto& listener : listeners) {
        listener->begin_draining();
    }
    if (const auto reason = frames.job().queue().end_reason()) {
        server.drain(close_seconds);
        print_message(std::string(reason->what()) + "\n");
        return std::max(1, reason->exit_status());
    }
    const int signal = stop_signal();
    print_message("wire-cell: " + signal_name(signal) + ", finishing " +
                  std::to_string(server.requests_in_flight()) + " requests\n");
    server.drain(request_seconds > 0 ? request_seconds : drain_seconds);
    return signal == SIGTERM || signal == SIGINT ? 0 : 128 + signal;
}

} // namespace

JobRequest job_of_server(const CommandLine& line) {
    const std::filesystem::path file = find_configuration(line.configuration);
    JobRequest request{file.string(), line.bindings, line.app, {}, line.changes};
    const auto arguments = job_arguments(file);
    for (const auto& [name, part] : {std::pair{"input", "MemorySource()"}, {"output", "MemorySink()"}}) {
        const auto given =
            std::find_if(line.bindings.begin(), line.bindings.end(), [&, &key = name](const auto& each) {
                return each.is_argument() && each.name == key;
            });
        if (given != line.bindings.end()) {
            throw Error(ErrorKind::Usage, {.what = "a server has no input and output files",
                                           .where = "command line",
                                           .seen = given->name + "=" + given->value,
                                           .expected = "no argument input or output beside --serve",
                                           .hint = "clients send the frames"});
        }
        if (std::find(arguments.begin(), arguments.end(), name) != arguments.end()) {
            request.bindings.push_back({JsonnetBinding::Kind::argument_code, name,
                                        std::string("(import 'memory.jsonnet').") + part});
        }
    }
    return request;
}

int serve(const CommandLine& line) {
    const ServeRequest& request = *line.serve;
    set_time_limit_handler(end_hanging_program);
    install_signal_handlers();
    for (const kserve::Address& address : request.addresses) { // before the time that the job takes
        if (address.is_unix()) {
            require_free_socket(address.path);
        }
        if (address.protocol == kserve::Address::Protocol::grpc) {
            kserve::grpc_plugin();
        }
    }
    JobRequest job = job_of_server(line);
    const std::filesystem::path configuration = job.configuration;
    const std::string name = request.name.empty() ? stem_of(job.configuration) : request.name;
    // In this order: what comes first lives longer.
    IoThreads threads(io_threads);
    ModelServer server(threads, request.limits.request_seconds);
    FrameJob frames(std::move(job), request.queue_size, line.graph_threads);
    require_separate_files(line, configuration, frames.job().job());
    log::open_held_files();
    ChainModel chain(name, frames);
    server.add(chain);
    auto networks = network_models(frames.job().job(), name, request.queue_size);
    for (const auto& network : networks) {
        server.add(*network);
    }
    const HttpServices services{
        server, [&] {
            return server.metrics(
                {{"spng_queue_depth", "Frames that wait.", static_cast<double>(frames.job().queue().size())},
                 {"spng_queue_capacity", "Frames that may wait.", static_cast<double>(request.queue_size)}});
        }};
    std::vector<std::unique_ptr<kserve::Listener>> listeners;
    for (const kserve::Address& address : request.addresses) {
        listeners.push_back(listen(address, threads, services, request.limits));
    }
    for (const auto& listener : listeners) {
        print_result("serving " + joined(server.model_names()) + " at " + listener->address() + "\n");
    }
    wait_for_end(frames);
    const int status = finish(frames, server, listeners, request.limits.request_seconds);
    for (const auto& listener : listeners) {
        listener->stop(close_seconds);
    }
    listeners.clear();
    networks.clear(); // waits for forwards whose requests had no time left
    frames.job().close();
    if (!line.timing_file.empty()) {
        frames.job().report().write_json(line.timing_file);
    }
    return status;
}

} // namespace spng::app
