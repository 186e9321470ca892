// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/torch_profiler.h"

#include "spng/core/error.h"
#include "spng/core/files/temporary_files.h"
#include "spng/instrument/report/machine.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <unistd.h>
#include <unordered_set>

namespace spng::instrument {
namespace {

namespace kineto = torch::profiler::impl;
namespace fs = std::filesystem;

kineto::ProfilerConfig settings() {
    return kineto::ProfilerConfig(kineto::ProfilerState::KINETO, /*report_input_shapes=*/true,
                                  /*profile_memory=*/true, /*with_stack=*/true, /*with_flops=*/true,
                                  /*with_modules=*/false);
}

} // namespace

struct TorchProfiler::State {
    fs::path folder;
    std::set<kineto::ActivityType> activities{kineto::ActivityType::CPU};
    bool is_prepared = false; ///< for one capture window; LibTorch crashes without it
    bool is_open = false;
    int files = 0;
    std::string failed_file, failure; ///< the first file that could not be written, and the reason

    void save(torch::autograd::profiler::ProfilerResult& result);
};

/// Save a trace. Kineto only logs a failed write, so check the size of the file.
void TorchProfiler::State::save(torch::autograd::profiler::ProfilerResult& result) {
    const fs::path name = folder / (this_machine().host + "_" + std::to_string(getpid()) + "." +
                                    std::to_string(files) + ".pt.trace.json");
    std::string problem;
    try {
        TemporaryFile file(name);
        if (file.in_place()) { // Kineto writes regular files only
            problem = std::make_error_code(std::errc::file_exists).message();
        } else {
            result.save(file.path());
            std::error_code unreadable;
            if (fs::file_size(file.path(), unreadable) == 0) {
                unreadable = std::make_error_code(std::errc::no_space_on_device);
            }
            problem = unreadable ? unreadable.message() : "";
            if (problem.empty()) {
                file.commit();
            }
        }
    } catch (const Error& error) {
        problem = error.text().seen;
    }
    if (problem.empty()) {
        ++files;
    } else if (failure.empty()) {
        failed_file = name;
        failure = problem;
    }
}

TorchProfiler::TorchProfiler(const std::string& folder, c10::Device device)
    : m_state(std::make_unique<State>()) {
    m_state->folder = folder;
    if (device.is_cuda()) {
        m_state->activities.insert(kineto::ActivityType::CUDA);
    } else { // Kineto asks for GPUs anyway, and logs the lack of a driver as an error; what we need is checked here
        setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);
    }
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem || access(folder.c_str(), W_OK) != 0) {
        throw Error(ErrorKind::Usage, {.what = "the traces of LibTorch's profiler cannot be written",
                                       .where = folder,
                                       .seen = problem ? problem.message() : "no permission to write into it",
                                       .expected = "a writable folder, or the name of a new one"});
    }
}

TorchProfiler::~TorchProfiler() {
    close_window();
}

void TorchProfiler::prepare() {
    if (!m_state->is_prepared) {
        torch::autograd::profiler::prepareProfiler(settings(), m_state->activities);
        m_state->is_prepared = true;
    }
}

void TorchProfiler::open_window() noexcept {
    if (m_state->is_open) {
        return;
    }
    try {
        prepare();
        m_state->is_prepared = false;
        torch::autograd::profiler::enableProfiler(settings(), m_state->activities,
                                                  {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
        m_state->is_open = true;
    } catch (const std::exception& error) {
        m_state->failed_file = m_state->folder;
        m_state->failure = error.what();
    }
}

void TorchProfiler::close_window() noexcept {
    if (!m_state->is_open) {
        return;
    }
    m_state->is_open = false;
    try {
        m_state->save(*torch::autograd::profiler::disableProfiler());
    } catch (const std::exception& error) {
        m_state->failed_file = m_state->folder;
        m_state->failure = error.what();
    }
}

int TorchProfiler::finish() {
    close_window();
    if (!m_state->failure.empty()) {
        throw Error(ErrorKind::Output, {.what = "a trace of LibTorch's profiler was not written",
                                        .where = m_state->failed_file,
                                        .seen = m_state->failure,
                                        .expected = "space for the file"});
    }
    return m_state->files;
}

} // namespace spng::instrument
