// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/body_captured.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/device/memory/device_memory.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/engine/body/port_key.h"
#include "spng/engine/body/section_ports.h"
#include "spng/graph/device_work.h"
#include "spng/graph/no_gradients.h"
#include "spng/instrument/meter/unmeasured.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <iterator>

namespace spng {
namespace {

/// Give back a capture at the end of its use for an event.
class Taken {
public:
    Taken(Captures& captures, Capture& capture) : m_captures(captures), m_capture(capture) {}
    ~Taken() { m_captures.give_back(m_capture); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

private:
    Captures& m_captures;
    Capture& m_capture;
};

/// Order the uses of a capture by different streams.
class InUse {
public:
    InUse(Capture& capture, c10::Device device) : m_last_use(capture.last_use), m_device(device) {
        if (m_last_use) {
            m_last_use->block(stream());
        }
    }
    /// After the work that was queued, also before a failure.
    ~InUse() {
        if (m_device.is_cpu()) {
            return;
        }
        try {
            if (!m_last_use) {
                m_last_use.emplace(m_device.type());
            }
            m_last_use->record(stream());
        } catch (const c10::Error&) {
            // The device is lost, as the wait for the event's work reports.
        }
    }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

private:
    c10::Stream stream() const { return c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device); }

    std::optional<c10::Event>& m_last_use;
    const c10::Device m_device;
};

void append(Reports& reports, const std::vector<TensorSetPtr>& sets) {
    for (const auto& set : sets) {
        reports.insert(reports.end(), set->reports().begin(), set->reports().end());
    }
}

/// Reports with these values for the event of `inputs`: with its own readers where it has them.
Reports reports_for(const Reports& with_values, const Ports& inputs) {
    Reports own;
    append(own, inputs);
    Reports reports;
    for (const auto& report : with_values) {
        const auto found = std::find_if(own.begin(), own.end(),
                                        [&](const auto& each) { return each->node == report->node; });
        auto made = std::make_shared<Report>(found == own.end() ? *report : **found);
        made->values = report->values;
        made->on_host = report->on_host;
        reports.push_back(std::move(made));
    }
    return reports;
}

} // namespace

CapturedBody::CapturedBody(const Parts& parts, c10::Device device, instrument::MeterMode mode,
                           Captures::Limits limits, log::Level level, const std::string& name)
    : m_parts(parts), m_device(device), m_mode(mode), m_section(find_device_section(parts)),
      m_captures(device, limits, level), m_meter({"SPNGDeviceSection", name, "plumbing"}) {
    for (const Step* step : m_section.before) {
        if (step->starter != nullptr && enters_only(*step) && step->starter->leave_device_work()) {
            const auto& entering = m_section.entering;
            const auto port = std::find(entering.begin(), entering.end(), step->outputs.front());
            m_starts.push_back({step, static_cast<std::size_t>(port - entering.begin())});
        }
    }
    std::vector<bool> is_made(parts.slots);
    for (const auto* steps : {&m_section.inside, &m_section.after}) {
        for (const Step* step : *steps) {
            for (const std::size_t slot : step->outputs) {
                is_made[slot] = true;
            }
        }
    }
    for (const Step* step : m_section.after) {
        std::copy_if(step->inputs.begin(), step->inputs.end(), std::back_inserter(m_beside),
                     [&](std::size_t slot) { return !is_made[slot]; });
    }
}

bool CapturedBody::enters_only(const Step& step) const {
    const auto& entering = m_section.entering;
    return !step.outputs.empty() &&
           std::all_of(step.outputs.begin(), step.outputs.end(), [&](std::size_t slot) {
               return !m_parts.leaves[slot] &&
                      std::find(entering.begin(), entering.end(), slot) != entering.end();
           });
}

CapturedBody::Made CapturedBody::call_one_by_one(const Ports& inputs, std::uint64_t event,
                                                 instrument::MeterMode mode) const {
    Made made;
    std::vector<TensorSetPtr> in_slot(m_parts.slots);
    {
        const Ports sets = uploaded(inputs, m_device);
        for (std::size_t i = 0; i < sets.size(); ++i) {
            in_slot[m_section.entering[i]] = sets[i];
        }
        for (const Start& start : m_starts) {
            auto outputs = start.step->starter->device_work(sets[start.port]);
            append(made.reports, outputs);
            for (std::size_t port = 0; port < outputs.size(); ++port) {
                in_slot[start.step->outputs[port]] = std::move(outputs[port]);
            }
        }
    }
    std::vector<bool> is_kept(m_parts.slots);
    for (const SectionRead& read : m_section.leaving) {
        is_kept[read.slot] = true;
    }
    for (const Step* step : m_section.inside) {
        Ports in;
        for (const std::size_t slot : step->inputs) { // each is freed as soon as it was used
            in.push_back(is_kept[slot] ? in_slot[slot] : std::move(in_slot[slot]));
        }
        Ports out = step->node->call(event, in, mode);
        append(made.reports, out);
        for (std::size_t port = 0; port < step->outputs.size(); ++port) {
            in_slot[step->outputs[port]] = std::move(out.at(port));
        }
    }
    for (const SectionRead& read : m_section.leaving) {
        made.sets.push_back(in_slot[read.slot]);
    }
    return made;
}

std::unique_ptr<Capture> CapturedBody::capture(const Ports& inputs, std::uint64_t event,
                                               bool& is_ready) const {
    NVTX_SCOPED_RANGE("CapturedBody::record");
    auto made = std::make_unique<Capture>(inputs, m_device);
    made->graph = make_device_graph(m_device);
    instrument::MeterMode mode = m_mode;
    mode.device_events = false;
    const auto call = [this, event, mode, source = made.get()] {
        const instrument::Unmeasured unmeasured;
        return call_one_by_one(source->inputs.ports(), event, mode);
    };
    if (!is_ready) {
        call(); // makes the handles and plans of this thread, in memory that the allocator has of earlier events
        is_ready = true;
    }
    // The graph may keep the work, so it refers to nothing of this call.
    const auto first = std::make_shared<Made>();
    {
        const CapturingThread capturing;
        made->graph->capture([call, first] {
            Made results = call();
            std::vector<at::Tensor> tensors = tensors_of(results.sets);
            for (const auto& report : results.reports) {
                tensors.push_back(report->values);
            }
            if (first->sets.empty()) {
                *first = std::move(results);
            }
            return tensors;
        });
    }
    std::vector<bool> is_lent;
    for (const SectionRead& read : m_section.leaving) {
        is_lent.push_back(read.is_lent);
    }
    made->reports = first->reports;
    made->outputs.emplace(made->inputs.ports(), first->sets, std::move(is_lent));
    if (!made->outputs->rejection().empty()) {
        throw UnusableOutputs(made->outputs->rejection());
    }
    return made;
}

void CapturedBody::finish(Ports sets, const Reports& reports, Call& call) const {
    EventCall& event = call.event;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        call.metered.count_bytes_out(sets[i] ? sets[i]->bytes() : 0);
        event.put(m_section.leaving[i].slot, std::move(sets[i]));
    }
    for (std::size_t i = 0; i < m_beside.size(); ++i) {
        event.put(m_beside[i], call.beside[i]);
    }
    event.add(reports_for(reports, call.inputs));
    for (const Step* step : m_section.after) {
        event.call(*step);
    }
    event.queued();
}

void CapturedBody::replay(Capture& capture, Call& call) const {
    NVTX_SCOPED_RANGE("CapturedBody::replay");
    const InUse in_use(capture, m_device);
    {
        NVTX_SCOPED_RANGE("CapturedBody::upload");
        capture.inputs.load(call.inputs);
    }
    capture.graph->replay();
    finish(capture.outputs->fill(call.inputs), capture.reports, call);
}

void CapturedBody::replay_or_call(const std::string& key, Call& call) {
    Capture* const capture = m_captures.take(
        key, [&](bool& is_ready) { return this->capture(call.inputs, call.event.index(), is_ready); });
    if (capture != nullptr) {
        const Taken taken(m_captures, *capture);
        replay(*capture, call);
        return;
    }
    Made made = call_one_by_one(call.inputs, call.event.index(), m_mode);
    m_captures.note_call(key);
    finish(std::move(made.sets), made.reports, call);
}

void CapturedBody::queue(EventCall& event, bool) {
    for (const Step* step : m_section.before) {
        event.call(*step);
    }
    const EventStream::Guard on_stream(event.stream());
    const NoGradients no_gradients;
    instrument::NodeMeter::Call metered(m_meter, event.index(), m_device, m_mode);
    Call call{event, metered, {}, {}};
    for (const std::size_t slot : m_section.entering) {
        call.inputs.push_back(event.take(slot));
        if (call.inputs.back() == nullptr) {
            return; // an example without this input
        }
        metered.count_bytes_in(call.inputs.back()->bytes());
    }
    for (const std::size_t slot : m_beside) {
        call.beside.push_back(event.take(slot));
    }
    const std::string key = port_key(call.inputs);
    for (;;) {
        const std::uint64_t tried = m_captures.tried();
        try {
            replay_or_call(key, call);
            return;
        } catch (const Abandoned&) {
            throw;
        } catch (...) {
            if (!handles_out_of_memory() || !m_captures.make_memory(tried)) {
                rethrow_readable(m_meter.identity().text() + ", event " + std::to_string(event.index()));
            }
        }
        release_cached_memory(m_device);
    }
}

} // namespace spng
