// SPDX-License-Identifier: Apache-2.0
// Run docs/examples/art over one event, between stand-ins of art and LArSoft.
//
//     run_module ADC CHANNELS TICKS MODEL SIGNAL
//
// ADC (channel, tick) int16 and CHANNELS int32 are read, SIGNAL (channel, tick) float32 is written. A row of SIGNAL has
// the channel, which must come in the order of CHANNELS, and the samples of its recob::Wire.
#include SPNG_ART_EXAMPLE

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace {

template <class T>
std::vector<T> read_all(const char* path) {
    std::ifstream stream(path, std::ios::binary | std::ios::ate);
    std::vector<T> values(static_cast<std::size_t>(stream.tellg()) / sizeof(T));
    stream.seekg(0);
    stream.read(reinterpret_cast<char*>(values.data()),
                static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

void run(char** words) {
    const auto adc = read_all<std::int16_t>(words[1]);
    const auto channels = read_all<std::int32_t>(words[2]);
    const auto ticks = static_cast<std::size_t>(std::atoll(words[3]));
    fhicl::ParameterSet parameters;
    parameters.put("RawDigits", art::InputTag{"daq"});
    parameters.put("Model", std::string(words[4]));
    parameters.put("Device", std::string("cpu"));
    const std::unique_ptr<art::EDProducer> module = make_module(parameters);

    auto digits = std::make_unique<std::vector<raw::RawDigit>>();
    for (std::size_t row = 0; row < channels.size(); ++row) {
        // The last row may be shorter than the others, as a readout that lost samples.
        const std::size_t begin = row * ticks, end = std::min(begin + ticks, adc.size());
        digits->emplace_back(static_cast<raw::ChannelID_t>(channels[row]), end - begin,
                             std::vector<short>(adc.begin() + static_cast<std::ptrdiff_t>(begin),
                                                adc.begin() + static_cast<std::ptrdiff_t>(end)));
    }
    digits->emplace_back(999999, 3, std::vector<short>(3)); // of another anode
    art::Event event(7);
    event.put(std::move(digits), "daq");
    module->produce(event);

    const auto wires = event.getValidHandle<std::vector<recob::Wire>>({});
    const auto links = event.getValidHandle<art::Assns<raw::RawDigit, recob::Wire>>({});
    std::ofstream output(words[5], std::ios::binary);
    for (std::size_t row = 0; row < wires->size(); ++row) {
        const recob::Wire& wire = wires->at(row);
        const auto plane = wire.Channel() < 800 ? geo::kU : wire.Channel() < 1600 ? geo::kV : geo::kW;
        if (links->at(row).second.key() != row || links->at(row).first.get()->Channel() != wire.Channel() ||
            wire.View() != plane) {
            throw std::runtime_error("wrong association or view");
        }
        std::vector<float> dense(wire.SignalROI().size());
        for (const auto& [begin, values] : wire.SignalROI().ranges()) {
            std::copy(values.begin(), values.end(), dense.begin() + static_cast<std::ptrdiff_t>(begin));
        }
        const auto channel = static_cast<std::int32_t>(wire.Channel());
        output.write(reinterpret_cast<const char*>(&channel), sizeof channel);
        output.write(reinterpret_cast<const char*>(dense.data()),
                     static_cast<std::streamsize>(dense.size() * sizeof(float)));
    }
}

} // namespace

int main(int count, char** words) {
    if (count != 6) {
        return EXIT_FAILURE;
    }
    try {
        run(words);
    } catch (const cet::exception& failure) {
        std::fprintf(stderr, "%s: %s", failure.category().c_str(), failure.what());
        return 3;
    } catch (const spng::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return error.exit_status();
    }
}
