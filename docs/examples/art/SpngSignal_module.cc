// SPDX-License-Identifier: Apache-2.0
// An art module for LArSoft: raw::RawDigit in, recob::Wire out. docs/frameworks.md
#include "art/Framework/Core/EDProducer.h"
#include "art/Framework/Core/ModuleMacros.h"
#include "art/Framework/Principal/Event.h"
#include "art/Framework/Principal/Handle.h"
#include "art/Persistency/Common/PtrMaker.h"
#include "canvas/Persistency/Common/Assns.h"
#include "canvas/Persistency/Common/Ptr.h"
#include "canvas/Utilities/InputTag.h"
#include "cetlib_except/exception.h"
#include "fhiclcpp/ParameterSet.h"
#include "larcoreobj/SimpleTypesAndConstants/geo_types.h"
#include "lardataobj/RawData/RawDigit.h"
#include "lardataobj/RawData/raw.h"
#include "lardataobj/RecoBase/Wire.h"

#include <WireCellSpng/Pipeline.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

spng::PipelineOptions options_of(const fhicl::ParameterSet& parameters) {
    spng::PipelineOptions options;
    options.detector = parameters.get<std::string>("Detector", "pdhd");
    options.anodes = parameters.get<std::vector<int>>("Anodes", {0});
    options.model = parameters.get<std::string>("Model", "default");
    options.device = parameters.get<std::string>("Device", "auto");
    options.sparse = true; // a recob::Wire is a list of ROIs
    return options;
}

} // namespace

class SpngSignal : public art::EDProducer {
public:
    explicit SpngSignal(const fhicl::ParameterSet& parameters)
        : EDProducer{parameters}, m_input(parameters.get<art::InputTag>("RawDigits")),
          m_pipeline(options_of(parameters)) {
        produces<std::vector<recob::Wire>>();
        produces<art::Assns<raw::RawDigit, recob::Wire>>();
        for (const spng::PlaneChannels& plane : m_pipeline.planes()) {
            for (const int channel : plane.channel_ids) {
                m_views[channel] = static_cast<geo::View_t>(plane.plane); // kU, kV, kW
            }
        }
    }

    void produce(art::Event& event) override {
        try {
            process(event);
        } catch (const spng::Error& error) {
            // The category is what art's scheduler is configured with, for example to skip such events.
            throw cet::exception("SpngSignal") << error.what() << '\n';
        }
    }

private:
    void process(art::Event& event) {
        const auto digits = event.getValidHandle<std::vector<raw::RawDigit>>(m_input);
        std::vector<std::int16_t> samples;           // (channel, tick)
        std::map<int, std::size_t> index_of_channel; // in `digits`
        spng::InputFrame frame;
        frame.ident = static_cast<int>(event.event());
        for (std::size_t index = 0; index < digits->size(); ++index) {
            const raw::RawDigit& digit = digits->at(index);
            const int channel = static_cast<int>(digit.Channel());
            if (m_views.count(channel) == 0) {
                continue; // of another anode
            }
            raw::RawDigit::ADCvector_t adc(digit.Samples());
            raw::Uncompress(digit.ADCs(), adc, static_cast<int>(digit.GetPedestal()), digit.Compression());
            if (frame.channels > 0 && static_cast<std::int64_t>(adc.size()) != frame.ticks) {
                throw cet::exception("SpngSignal") << "channel " << channel << " has " << adc.size()
                                                   << " ticks, those before it " << frame.ticks << '\n';
            }
            frame.ticks = static_cast<std::int64_t>(adc.size());
            ++frame.channels;
            frame.channel_ids.push_back(channel);
            index_of_channel[channel] = index;
            samples.insert(samples.end(), adc.begin(), adc.end());
        }
        frame.samples = samples.data(); // process() returns when they are no longer needed
        const spng::OutputFrame result = m_pipeline.process(std::move(frame));

        const spng::OutputTraces& signal = result.traces.at(0);
        std::vector<recob::Wire::RegionsOfInterest_t> regions(signal.channel_ids.size());
        const auto* values = static_cast<const float*>(signal.samples);
        for (std::int64_t run = 0; run < signal.run_count; ++run) {
            const auto [row, begin, end] = signal.runs[run];
            regions[static_cast<std::size_t>(row)].add_range(begin, values, values + (end - begin));
            values += end - begin;
        }

        auto wires = std::make_unique<std::vector<recob::Wire>>();
        auto associations = std::make_unique<art::Assns<raw::RawDigit, recob::Wire>>();
        const art::PtrMaker<recob::Wire> pointer_to_wire{event};
        for (std::size_t row = 0; row < regions.size(); ++row) {
            const int channel = signal.channel_ids[row];
            const auto digit = index_of_channel.find(channel);
            if (digit == index_of_channel.end()) {
                continue; // absent in the input
            }
            regions[row].resize(static_cast<std::size_t>(signal.ticks));
            wires->emplace_back(std::move(regions[row]), static_cast<raw::ChannelID_t>(channel),
                                m_views.at(channel));
            associations->addSingle(art::Ptr<raw::RawDigit>(digits, digit->second),
                                    pointer_to_wire(wires->size() - 1));
        }
        event.put(std::move(wires));
        event.put(std::move(associations));
    }

    art::InputTag m_input;
    spng::Pipeline m_pipeline;
    std::map<int, geo::View_t> m_views; ///< of each channel of the pipeline
};

DEFINE_ART_MODULE(SpngSignal)
