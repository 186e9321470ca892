// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/user_timer/scoped_timer.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/unit_text.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/cuda_runtime.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <utility>

namespace spng {
namespace {

thread_local int t_depth = 0;

std::optional<c10::Device> device_to_wait_for(const ScopedTimerOptions& options) {
    if (!options.synchronize) {
        return std::nullopt;
    }
    if (options.device) {
        return options.device->is_cpu() ? std::nullopt : options.device;
    }
    if (instrument::cuda_runtime() == nullptr || !c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) {
        return std::nullopt;
    }
    return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getDevice();
}

#if SPNG_NVTX_IS_ON
/// A range with a name that is known only at run time. The name is registered each time.
class NamedRange {
public:
    NamedRange(const std::string& name, std::uint32_t colour)
        : m_label(name.c_str(), colour),
          m_range(nvtx::is_on(nvtx::Level::Steps) ? Range{m_label.attributes()} : Range{}) {}

private:
    using Range = nvtx::ScopedRangeIn<nvtx::Domain>;
    nvtx::LabelIn<nvtx::Domain> m_label;
    Range m_range;
};
#else
class NamedRange {
public:
    NamedRange(const std::string&, std::uint32_t) {}
};
#endif

} // namespace

struct ScopedTimer::Running {
    explicit Running(const ScopedTimerOptions& options) : device(device_to_wait_for(options)) {}

    /// Wait for the device if the options ask for it.
    void synchronise() {
        if (!device || !problem.empty()) {
            return;
        }
        try {
            if (!instrument::is_capturing(*device)) {
                c10::impl::VirtualGuardImpl(device->type()).synchronizeDevice(device->index());
            }
        } catch (const c10::Error& error) {
            problem = error.what_without_backtrace();
        }
    }

    std::optional<c10::Device> device;
    std::string problem; ///< of the device
    std::optional<NamedRange> range;
    std::int64_t begin = 0;
};

ScopedTimer::ScopedTimer(std::string name, ScopedTimerOptions options) : m_options(std::move(options)) {
    m_result.name = std::move(name);
    if (!m_options.active) {
        return;
    }
    m_running = std::make_unique<Running>(m_options);
    m_result.depth = t_depth++;
    m_running->synchronise();
    if (m_options.filter != timing_none) {
        timing_begin(m_options.filter);
    }
    if (m_options.use_nvtx) {
        m_running->range.emplace(m_result.name, m_options.colour);
    }
    m_running->begin = instrument::wall_nanoseconds();
}

const ScopedTimerResult& ScopedTimer::stop() {
    if (!m_running) {
        return m_result;
    }
    const auto running = std::move(m_running);
    running->synchronise();
    m_result.elapsed = 1e-6 * static_cast<double>(instrument::wall_nanoseconds() - running->begin);
    running->range.reset();
    --t_depth;
    if (m_options.filter != timing_none) {
        try {
            m_result.activities = timing_end();
        } catch (const c10::Error& error) {
            running->problem = error.what_without_backtrace();
        }
    }
    if (m_options.print) {
        const std::string indent(4 * static_cast<std::size_t>(m_result.depth), ' ');
        if (m_options.report && m_options.filter != timing_none) {
            m_options.report(m_result.activities, indent);
        } else if (m_options.filter != timing_none) {
            timing_print(m_result.activities, indent, m_options.write);
        }
        m_options.write(indent + m_result.name + " took " + format_fixed(m_result.elapsed) + " ms\n");
        if (!running->problem.empty()) {
            m_options.write(indent + m_result.name + " could not be measured on the device: " +
                            running->problem.substr(0, running->problem.find('\n')) + "\n");
        }
    }
    if (m_options.collect) {
        m_options.collect(m_result);
    }
    return m_result;
}

ScopedTimer::~ScopedTimer() {
    stop();
}

} // namespace spng
