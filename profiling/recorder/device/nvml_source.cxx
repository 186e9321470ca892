// SPDX-License-Identifier: Apache-2.0
// Part "nvml": power, clocks, temperature and load of the GPUs that this process uses, sampled several times
// per second. The samples show whether a run is reliable. They do not resolve single nodes, because NVML
// averages over up to a second.
//
// NVML sees all GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says, and numbers them in another order than
// CUDA. A GPU is therefore found by its location on the PCI bus, and sampled from the time when the process has
// started to work on it. Its index is that of CUDA, as in all tables of the recording.

#include "profiling/recorder/activity_source.h"
#include "profiling/recorder/device/driver_functions.h"
#include "profiling/recorder/device/nvml_functions.h"
#include "profiling/recorder/recorder.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spng::recorder {
namespace {

// Limits of the sampling interval [s]. NVML's values do not change faster, and a query takes up to a
// millisecond.
constexpr double min_interval = 0.02;
constexpr double max_interval = 0.1;

struct Gpu {
    int ordinal;                 ///< of CUDA
    StringId source;             ///< "gpu0"
    NvmlDevice device = nullptr; ///< null: NVML does not know it
    NvmlDevice memory =
        nullptr; ///< the part that the process uses, if the GPU is divided (MIG); else `device`
    unsigned long long throttled = 0; ///< union of all reasons
    unsigned long samples = 0, throttled_samples = 0;
};

class NvmlSamples final : public ActivitySource {
public:
    Readiness start(Recorder& recorder) override {
        m_nvml = load_nvml();
        if (!m_nvml.problem.empty()) {
            return {false, m_nvml.problem, m_nvml.no_driver};
        }
        LoadedDriver driver = load_driver();
        if (!driver.problem.empty()) {
            m_nvml.functions.shutdown();
            return {false, driver.problem, driver.no_driver};
        }
        m_driver = driver.functions;
        recorder.declare<SampleRow>();
        m_thread = std::jthread([this, &recorder](const std::stop_token& stop) { run(stop, recorder); });
        return {};
    }

    void stop(Recorder& recorder) override {
        m_thread.request_stop();
        m_thread.join();
        m_nvml.functions.shutdown();
        for (const Gpu& gpu : m_gpus) {
            if (gpu.throttled_samples > 0) {
                const std::string name = "GPU " + std::to_string(gpu.ordinal);
                recorder.diagnose(Severity::warning, "suspect run: the clocks of " + name +
                                                         " were reduced (" +
                                                         describe_throttling(gpu.throttled) + ") in " +
                                                         std::to_string(gpu.throttled_samples) + " of " +
                                                         std::to_string(gpu.samples) + " samples");
            }
        }
    }

private:
    void run(const std::stop_token& stop, Recorder& recorder) {
        const auto pause = std::chrono::duration<double>(
            std::clamp(recorder.options().sample_seconds, min_interval, max_interval));
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        do {
            find_used_gpus(recorder);
            for (Gpu& gpu : m_gpus) {
                if (gpu.device != nullptr) {
                    sample(gpu, recorder);
                }
            }
        } while (!wake.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
    }

    /// Add the GPUs on which this process has started to work since the last call.
    void find_used_gpus(Recorder& recorder) {
        for (int ordinal = 0; ordinal < m_driver.count(); ++ordinal) {
            const bool is_known = std::any_of(m_gpus.begin(), m_gpus.end(),
                                              [&](const Gpu& gpu) { return gpu.ordinal == ordinal; });
            if (!is_known && m_driver.uses(ordinal)) {
                m_gpus.push_back(find(ordinal, recorder));
            }
        }
    }

    Gpu find(int ordinal, Recorder& recorder) {
        const auto& nvml = m_nvml.functions;
        const std::string name = "GPU " + std::to_string(ordinal);
        Gpu gpu{ordinal, recorder.intern("gpu" + std::to_string(ordinal))};
        if (nvml.device_at(m_driver.bus_location_of(ordinal).c_str(), &gpu.device) != 0) {
            gpu.device = nullptr;
            recorder.diagnose(Severity::warning, "NVML does not know " + name + ": it is not sampled");
            return gpu;
        }
        gpu.memory = gpu.device;
        unsigned current = 0;
        unsigned pending = 0;
        if (nvml.mig_mode != nullptr && nvml.mig_mode(gpu.device, &current, &pending) == 0 && current != 0) {
            const std::string part = "MIG-" + m_driver.uuid_of(ordinal);
            if (nvml.device_by_uuid(part.c_str(), &gpu.memory) != 0) {
                gpu.memory = nullptr;
            }
            recorder.diagnose(Severity::information,
                              name +
                                  " is divided (MIG): power, clocks and temperature are those of the whole "
                                  "GPU and include the work of other users; load is not measured");
        }
        return gpu;
    }

    /// Add one sample of each metric. Skip metrics that the GPU does not support, such as a missing power
    /// sensor.
    void sample(Gpu& gpu, Recorder& recorder) {
        const auto& nvml = m_nvml.functions;
        const TimePoint time = now();
        const auto add = [&](const char* metric, int result, double value) {
            if (result == 0) {
                recorder.add(SampleRow{time, gpu.source, recorder.intern(metric), value});
            }
        };
        unsigned value = 0;
        const int power = nvml.power(gpu.device, &value);
        add("power_watts", power, 1e-3 * value);
        const int sm_clock = nvml.clock(gpu.device, nvml_clock_sm, &value);
        add("sm_clock_hz", sm_clock, 1e6 * value);
        const int memory_clock = nvml.clock(gpu.device, nvml_clock_memory, &value);
        add("memory_clock_hz", memory_clock, 1e6 * value);
        const int temperature = nvml.temperature(gpu.device, nvml_temperature_gpu, &value);
        add("temperature_celsius", temperature, value);
        NvmlUtilisation load;
        const int utilisation = nvml.utilisation(gpu.device, &load);
        add("gpu_busy_percent", utilisation, load.gpu);
        add("memory_busy_percent", utilisation, load.memory);
        NvmlMemory memory;
        if (gpu.memory != nullptr) {
            const int used = nvml.memory(gpu.memory, &memory);
            add("memory_used_bytes", used, static_cast<double>(memory.used));
        }
        unsigned long long reasons = 0;
        const int throttle = nvml.throttle_reasons(gpu.device, &reasons);
        add("throttle_reasons", throttle, static_cast<double>(reasons));
        if (throttle == 0) {
            ++gpu.samples;
            gpu.throttled |= reasons;
            gpu.throttled_samples += describe_throttling(reasons).empty() ? 0 : 1;
        }
    }

    LoadedNvml m_nvml;
    DriverFunctions m_driver;
    std::vector<Gpu> m_gpus; ///< in use; only the sampling thread adds
    std::jthread m_thread;
};

const SourceRegistration<NvmlSamples> registration("nvml");

} // namespace
} // namespace spng::recorder
