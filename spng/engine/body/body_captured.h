// SPDX-License-Identifier: Apache-2.0
#pragma once
// A body whose device section is captured once for each shape of events, and launched as one CUDA graph for all later
// ones (docs/decisions/streams.md).

#include "spng/engine/body/body.h"
#include "spng/engine/body/captures.h"
#include "spng/graph/device_section.h"
#include "spng/instrument/meter/node_meter.h"

#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Calls the nodes of the section one by one for the first event of a shape, captures them as a CUDA graph with the
/// second, and launches that graph for all later ones. With them it captures the work on the device that uploading nodes
/// leave to it. It calls the nodes one by one also after a rejected capture, and where the memory for a capture is
/// missing (Captures). The other nodes of the body are called for each event: the size of their copies differs.
class CapturedBody : public Body {
public:
    /// @param parts   live as long as this object; their nodes are prepared
    /// @param device  has DeviceGraphs
    /// @param name    instance name of the meter
    CapturedBody(const Parts& parts, c10::Device device, instrument::MeterMode mode, Captures::Limits limits,
                 log::Level level, const std::string& name = {});

    void queue(EventCall& event, bool one_by_one) override;
    void release_memory(bool all) override { m_captures.release_memory(all); }

    /// Measures the section, from the upload to the copies of the result.
    instrument::NodeMeter& meter() { return m_meter; }
    const Captures& captures() const { return m_captures; }

private:
    /// A node that leaves its work on the device to the section.
    struct Start {
        const Step* step;
        std::size_t port; ///< index in `entering` of the slot with the set to upload
    };
    /// Results of the section.
    struct Made {
        Ports sets; ///< by DeviceSection::leaving
        Reports reports;
    };

    /// An event on its way through the section.
    struct Call {
        EventCall& event;
        instrument::NodeMeter::Call& metered;
        Ports inputs; ///< by DeviceSection::entering
        Ports beside; ///< by m_beside
    };

    bool enters_only(const Step& step) const;
    /// @param inputs  by DeviceSection::entering
    Made call_one_by_one(const Ports& inputs, std::uint64_t event, instrument::MeterMode mode) const;
    std::unique_ptr<Capture> capture(const Ports& inputs, std::uint64_t event, bool& is_ready) const;
    /// Launch the graph for an event, and call the nodes behind the section while its memory is that of the event.
    void replay(Capture& capture, Call& call) const;
    /// Put the results of the section in their slots, and call the nodes behind it.
    void finish(Ports sets, const Reports& reports, Call& call) const;
    void replay_or_call(const std::string& key, Call& call);

    const Parts& m_parts;
    const c10::Device m_device;
    const instrument::MeterMode m_mode;
    DeviceSection m_section;
    std::vector<Start> m_starts;
    std::vector<std::size_t> m_beside; ///< slots that nodes behind the section read, and others make
    Captures m_captures;
    instrument::NodeMeter m_meter;
};

} // namespace spng
