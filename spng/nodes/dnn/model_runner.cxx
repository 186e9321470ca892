// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_runner.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/device_graph.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/nodes/dnn/model_probe.h"
#include "spng/nodes/dnn/network_tiles.h"

#include <optional>
#include <utility>

namespace spng {
namespace {

constexpr int max_retries = 3;

/// Slot for one of the concurrent forwards.
class ForwardSlot {
public:
    explicit ForwardSlot(std::counting_semaphore<>& free) : m_free(free) { m_free.acquire(); }
    ~ForwardSlot() { m_free.release(); }
    ForwardSlot(const ForwardSlot&) = delete;
    ForwardSlot& operator=(const ForwardSlot&) = delete;

private:
    std::counting_semaphore<>& m_free;
};

ErrorText no_memory(const std::string& file, const std::string& seen, const std::string& expected) {
    return {.what = "not enough memory for the network",
            .where = file,
            .seen = seen,
            .expected = expected,
            .hint = "raise memory_budget, run fewer events at once, use a device with more memory, or -A "
                    "device=cpu"};
}

} // namespace

ModelRunner::ModelRunner(std::unique_ptr<const Model> model, ModelRunnerOptions options)
    : m_model(std::move(model)), m_options(std::move(options)), m_free(m_options.concurrency) {
    const auto scope = math();
    if (m_options.chunk_ticks > 0) {
        m_chunk = std::max(rounded_down(m_options.chunk_ticks, m_options.multiple), m_options.multiple);
    } else if (m_options.memory_budget > 0) {
        m_chunk = chunk_within_budget();
    }
    if (m_chunk > 0) {
        halo();
    }
    m_planned_chunk = m_chunk;
}

ModelLayout ModelRunner::layout(std::int64_t halo) const {
    return {.transpose = m_options.transpose, .multiple = m_options.multiple, .halo = halo};
}

std::int64_t ModelRunner::halo() const {
    const std::lock_guard lock(m_halo_mutex);
    if (!m_halo) {
        const auto scope = math();
        m_halo = m_options.halo >= 0 ? m_options.halo
                                     : measured_halo(*m_model, layout(0), m_options.sizes, m_options.device);
    }
    return *m_halo;
}

std::int64_t ModelRunner::chunk_within_budget() const {
    const std::int64_t per_tick =
        measured_bytes_per_tick(*m_model, layout(0), m_options.sizes, m_options.device);
    const std::int64_t ticks = rounded_up(m_options.sizes[3], m_options.multiple);
    if (per_tick == 0) {
        log::warn(m_options.name, "cannot measure the memory of a forward; memory_budget has no effect");
        return 0;
    }
    log::info(m_options.name, [&] {
        return "a forward needs about " + std::to_string(per_tick * ticks / 1'000'000) + " MB; budget " +
               std::to_string(m_options.memory_budget / 1'000'000) + " MB";
    });
    if (per_tick * ticks <= m_options.memory_budget) {
        return 0;
    }
    const std::int64_t margins = 2 * rounded_up(halo(), m_options.multiple);
    const std::int64_t chunk = rounded_down(m_options.memory_budget / per_tick - margins, m_options.multiple);
    if (chunk < m_options.multiple) {
        throw Error(ErrorKind::Device,
                    no_memory(m_model->file(),
                              "memory_budget = " + std::to_string(m_options.memory_budget) + " bytes",
                              "at least " + std::to_string(per_tick * (margins + m_options.multiple)) +
                                  " bytes, for a forward of " + std::to_string(m_options.multiple) +
                                  " ticks with their halo"));
    }
    return chunk;
}

std::optional<CudaMath> ModelRunner::math() const {
    return m_options.device.is_cuda() ? std::optional<CudaMath>(std::in_place, m_options.fast) : std::nullopt;
}

void ModelRunner::halve_chunk(std::int64_t tried, std::int64_t ticks, const std::string& failure) const {
    const std::int64_t whole = tried == 0 ? rounded_up(ticks, m_options.multiple) : tried;
    const std::int64_t half = rounded_down(whole / 2, m_options.multiple);
    if (half == 0) {
        throw OutOfMemory(no_memory(m_model->file(), failure,
                                    "memory for " + std::to_string(m_options.multiple) + " ticks"));
    }
    const std::lock_guard lock(m_mutex);
    if (m_chunk != tried) {
        return; // another call has halved it in the meantime
    }
    m_chunk = half;
    m_pause = std::exchange(m_was_doubled, false) ? m_pauses.next() : m_pause;
    m_calls_left = m_pause;
    log::warn(m_options.name, "out of memory; continuing with " + std::to_string(half) +
                                  " ticks per forward, for at least " + std::to_string(m_pause) + " calls");
}

void ModelRunner::note_success(std::int64_t chunk, std::int64_t ticks) const {
    if (chunk == m_planned_chunk || is_capturing()) {
        return;
    }
    const std::lock_guard lock(m_mutex);
    if (m_chunk != chunk || --m_calls_left > 0) {
        return;
    }
    const bool is_whole = m_planned_chunk == 0 ? 2 * chunk >= ticks : 2 * chunk >= m_planned_chunk;
    m_chunk = is_whole ? m_planned_chunk : 2 * chunk;
    m_was_doubled = true;
    m_calls_left = m_pause;
    log::info(m_options.name, [&] {
        return "trying " + (m_chunk == 0 ? std::string("all") : std::to_string(m_chunk)) +
               " ticks per forward again";
    });
}

at::Tensor ModelRunner::forward_as_is(const at::Tensor& input) const {
    const std::int64_t ticks = input.size(m_options.transpose ? 2 : 3);
    if (m_planned_chunk > 0 && ticks > m_planned_chunk + 2 * halo() + m_options.multiple) {
        throw ModelOutOfMemory(std::to_string(ticks) + " ticks; chunk_ticks or memory_budget allows " +
                               std::to_string(m_planned_chunk));
    }
    const ForwardSlot slot(m_free);
    const auto scope = math();
    return m_model->forward(input.to(m_options.device));
}

at::Tensor ModelRunner::forward(const at::Tensor& features) const {
    require_tensor(features.defined() && features.dim() == 4 && features.scalar_type() == at::kFloat,
                   "ModelRunner::forward", "features", features, "float32 (view, feature, channel, tick)");
    const ForwardSlot slot(m_free);
    const auto scope = math();
    for (int retry = 0;; ++retry) {
        const std::int64_t chunk = m_chunk;
        std::optional<std::string> failure;
        try {
            at::Tensor result = tiled_forward(*m_model, features, layout(chunk == 0 ? 0 : halo()), chunk);
            note_success(chunk, features.size(3));
            return result;
        } catch (const ModelOutOfMemory& error) {
            failure = error.what();
        } catch (const c10::OutOfMemoryError& error) {
            failure = error.what_without_backtrace();
        }
        if (is_capturing()) { // a tile that is too large now may fit when the capture is tried again
            throw OutOfMemory(no_memory(m_model->file(), *failure, "enough for the capture of an event"));
        }
        if (retry == max_retries) {
            throw OutOfMemory(no_memory(m_model->file(), *failure,
                                        "enough for " + std::to_string(chunk) + " ticks, after " +
                                            std::to_string(max_retries) + " retries"));
        }
        halve_chunk(chunk, features.size(3), *failure);
    }
}

} // namespace spng
