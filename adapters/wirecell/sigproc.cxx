// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/sigproc.h"

#include "adapters/wirecell/dense_frame.h"
#include "adapters/wirecell/result_frame.h"
#include "adapters/wirecell/version.h"

#include "WireCellIface/IAnodePlane.h"
#include "WireCellUtil/Exceptions.h"
#include "WireCellUtil/Logging.h"
#include "WireCellUtil/NamedFactory.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

WIRECELL_FACTORY(SPNGSigProc, spng::wirecell::SigProc, WireCell::INamed, WireCell::IFrameFilter,
                 WireCell::IConfigurable, WireCell::ITerminal)

namespace spng::wirecell {
namespace {

using MaskMap = WireCell::Waveform::ChannelMaskMap;

/// Closes the pipelines that are left when the process ends: their threads must not run while the libraries below are
/// unloaded, and programs may end without ITerminal::finalize().
class LivePipelines {
public:
    void add(const std::shared_ptr<Pipeline>& pipeline) {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_pipelines, [](const auto& each) { return each.expired(); });
        m_pipelines.push_back(pipeline);
    }
    ~LivePipelines() {
        for (const auto& each : m_pipelines) {
            if (const auto pipeline = each.lock()) {
                pipeline->close();
            }
        }
    }

private:
    std::mutex m_mutex;
    std::vector<std::weak_ptr<Pipeline>> m_pipelines;
};

LivePipelines live_pipelines;

template <class Exception>
[[noreturn]] void throw_block(const Error& error) {
    // Without THROW() and its stack trace, which would follow the block.
    BOOST_THROW_EXCEPTION(boost::enable_error_info(Exception()) << WireCell::errmsg{error.what()});
}

[[noreturn]] void throw_as_wirecell(const Error& error) {
    switch (error.kind()) {
    case ErrorKind::Usage:
    case ErrorKind::Configuration:
    case ErrorKind::Input:
        throw_block<WireCell::ValueError>(error);
    case ErrorKind::Output:
    case ErrorKind::Model:
        throw_block<WireCell::IOError>(error);
    case ErrorKind::Device:
        throw_block<WireCell::RuntimeError>(error);
    case ErrorKind::Internal:
        break;
    }
    throw_block<WireCell::LogicError>(error);
}

/// Call the work, and throw its errors as exceptions of WCT.
void translate_errors(const std::string& location, const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        Error own = error;
        if (own.text().where.rfind(location, 0) != 0) {
            own.add_where(location);
        }
        throw_as_wirecell(own);
    } catch (const WireCell::Exception&) {
        throw; // of WCT itself, such as an anode that is not configured
    } catch (const std::exception& error) {
        throw_as_wirecell({ErrorKind::Internal, {.what = error.what(), .where = location}});
    }
}

spdlog::level::level_enum level_of(const std::string& name) {
    return spdlog::level::from_str(name == "warn" ? "warning" : name);
}

/// Send the log lines of this project to WCT's logger "spng", at the level that WCT gives it.
void forward_log() {
    const auto logger = WireCell::Log::logger("spng");
    const std::vector<std::string> names = {"trace", "debug", "info", "warn", "error", "critical"};
    const auto level = static_cast<std::size_t>(logger->level());
    if (level >= names.size()) {
        set_log_handler({});
        return;
    }
    set_log_handler(
        [logger](const std::string& line_level, const std::string& source, const std::string& text) {
            logger->log(level_of(line_level), "{}: {}", source, text);
        },
        names[level]);
}

/// @throws Error(Configuration) if the anode of WCT has other channels than that of the detector; of several, the one with
/// its ident
void require_same_channels(const WireCell::IAnodePlane& anode, const std::string& name,
                           const Pipeline& pipeline, const std::string& detector) {
    std::vector<int> expected, seen = anode.channels();
    const auto& planes = pipeline.planes();
    const bool are_several = std::any_of(planes.begin(), planes.end(), [&](const PlaneChannels& plane) {
        return plane.anode != planes.front().anode;
    });
    for (const PlaneChannels& plane : planes) {
        if (!are_several || plane.anode == anode.ident()) {
            expected.insert(expected.end(), plane.channel_ids.begin(), plane.channel_ids.end());
        }
    }
    for (auto* channels : {&expected, &seen}) {
        std::sort(channels->begin(), channels->end());
        channels->erase(std::unique(channels->begin(), channels->end()), channels->end());
    }
    if (expected != seen) {
        const auto summary = [](const std::vector<int>& channels) {
            return std::to_string(channels.size()) + " channels" +
                   (channels.empty()
                        ? ""
                        : ", " + std::to_string(channels.front()) + " to " + std::to_string(channels.back()));
        };
        throw Error(ErrorKind::Configuration, {.what = "the anode of the job is not that of the detector",
                                               .where = "key anode",
                                               .seen = name + ": " + summary(seen),
                                               .expected = detector + ": " + summary(expected),
                                               .hint = "choose the detector with key detname"});
    }
}

[[noreturn]] void reject_tag(const char* what, const std::vector<std::string>& tags, std::string expected) {
    throw Error(ErrorKind::Input, {.what = what,
                                   .where = "input frame",
                                   .seen = tags.empty() ? "no trace tags" : "'" + joined(tags, "', '") + "'",
                                   .expected = std::move(expected),
                                   .hint = "key intag"});
}

/// Return the traces of the tag, see the key intag.
std::vector<TraceView> traces_of(const WireCell::IFrame& frame, std::string tag) {
    const auto all = frame.traces();
    const auto& tags = frame.trace_tags();
    if (tag.empty() && tags.size() > 1) {
        reject_tag("the frame has several tags", tags, "one tag, or the one to use in key intag");
    }
    if (tag.empty() && tags.size() == 1) {
        tag = tags.front();
    }
    std::vector<TraceView> views;
    const auto add = [&](const WireCell::ITrace& trace) {
        views.push_back({trace.channel(), trace.tbin(), trace.charge().data(), trace.charge().size()});
    };
    if (tag.empty() || tag == "*") {
        for (const auto& trace : *all) {
            add(*trace);
        }
    } else {
        for (const std::size_t index : frame.tagged_traces(tag)) {
            add(*all->at(index));
        }
        if (views.empty()) {
            reject_tag("the frame has no waveforms of that tag", tags, "'" + tag + "'");
        }
    }
    return views;
}

/// Ticks of masks count from the time of the frame in both programs.
void append_masks(const MaskMap& from, InputFrame& to) {
    for (const auto& [name, channels] : from) {
        auto& ranges = to.masks[name];
        for (const auto& [channel, bins] : channels) {
            for (const auto& [begin, end] : bins) {
                ranges.push_back({channel, begin, end});
            }
        }
    }
}

/// Masks without ranges are left out: FrameFileSink would write arrays without elements, which FrameFileSource rejects.
/// Ticks beyond 32 bits, which are far outside of the samples, become the nearest ones that fit.
MaskMap mask_map(const ChannelMasks& masks) {
    using Limits = std::numeric_limits<int>;
    const auto saturated = [](std::int64_t tick) {
        return static_cast<int>(std::clamp<std::int64_t>(tick, Limits::min(), Limits::max()));
    };
    MaskMap map;
    for (const auto& [name, ranges] : masks) {
        for (const ChannelRange& range : ranges) {
            map[name][range.channel].emplace_back(saturated(range.begin), saturated(range.end));
        }
    }
    return map;
}

} // namespace

SigProc::~SigProc() = default;

std::string SigProc::location() const {
    return m_name.empty() ? "SPNGSigProc" : "SPNGSigProc:" + m_name;
}

WireCell::Configuration SigProc::default_configuration() const {
    WireCell::Configuration defaults;
    std::istringstream(default_keys().dump()) >> defaults;
    return defaults;
}

void SigProc::configure(const WireCell::Configuration& config) {
    translate_errors(location(), [&] { make_pipeline(config); });
}

void SigProc::make_pipeline(const WireCell::Configuration& config) {
    require_wirecell(wirecell_of_build(), wirecell_of_process());
    m_pipeline.reset();
    std::ostringstream text;
    text << config;
    m_keys = keys_of(nlohmann::json::parse(text.str()), location());
    std::shared_ptr<WireCell::IAnodePlane> anode;
    if (!m_keys.anode.empty()) {
        anode = WireCell::Factory::find_maybe_tn<WireCell::IAnodePlane>(m_keys.anode);
        if (!anode) {
            throw Error(ErrorKind::Configuration,
                        {.what = "the job has no such anode",
                         .where = "key anode",
                         .seen = m_keys.anode,
                         .expected = "type:name of an AnodePlane that is configured before this node",
                         .hint = "name it in the uses of the node"});
        }
        if (!m_keys.has_tpcid) {
            m_keys.pipeline.anodes = {anode->ident()};
        }
    }
    forward_log();
    auto pipeline = std::make_shared<Pipeline>(m_keys.pipeline);
    if (anode) {
        require_same_channels(*anode, m_keys.anode, *pipeline, m_keys.pipeline.detector);
    }
    live_pipelines.add(pipeline);
    m_pipeline = std::move(pipeline);
}

std::shared_ptr<const WireCell::IFrame> SigProc::process(const WireCell::IFrame& in) const {
    const auto traces = in.traces();
    if (!traces || traces->empty()) {
        // As OmnibusSigProc: a trigger may have found nothing.
        return std::make_shared<ResultFrame>(in, ResultTraces{}, m_keys.frame_tag, in.masks());
    }
    if (!m_pipeline) {
        throw Error(ErrorKind::Usage, {.what = "the node has no pipeline",
                                       .seen = "a frame before configure(), or after finalize()",
                                       .expected = "frames in between"});
    }
    if (!(in.tick() > 0)) {
        throw Error(ErrorKind::Input, {.what = "the tick information is unusable",
                                       .where = "input frame",
                                       .seen = "tick " + std::to_string(in.tick()),
                                       .expected = "a tick above 0 [ns]"});
    }
    InputFrame frame = dense_frame(traces_of(in, m_keys.intag));
    frame.ident = in.ident();
    frame.start_ns = in.time(); // a nanosecond is the unit of time of both
    frame.tick_ns = in.tick();
    append_masks(in.masks(), frame);
    const OutputFrame result = m_pipeline->process(std::move(frame));
    return std::make_shared<ResultFrame>(in, result_traces(result, m_keys), m_keys.frame_tag,
                                         mask_map(result.masks));
}

bool SigProc::operator()(const input_pointer& in, output_pointer& out) {
    out = nullptr;
    if (in) {
        translate_errors(location(), [&] { out = process(*in); });
    }
    return true;
}

void SigProc::finalize() {
    translate_errors(location(), [&] {
        if (m_pipeline) {
            m_pipeline->close();
            m_pipeline.reset();
        }
    });
}

} // namespace spng::wirecell
