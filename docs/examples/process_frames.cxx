// SPDX-License-Identifier: Apache-2.0
// Process frames in memory: docs/embedding.md. Build it with the flags of `pkg-config --cflags --libs wire-cell-spng`.
#include <WireCellSpng/Pipeline.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
    try {
        spng::PipelineOptions options;
        options.detector = "pdhd";
        options.sparse = true;
        spng::Pipeline pipeline(options);
        const std::vector<std::int16_t> adc(2560 * 6000, 900); // (channel, tick) of your readout
        for (int event = 0; event < 3; ++event) {
            spng::InputFrame frame;
            frame.samples = adc.data();
            frame.channels = 2560;
            frame.ticks = 6000;
            frame.ident = event;
            const spng::OutputFrame result = pipeline.process(frame);
            std::printf("event %d: %lld ROIs in %.2f s\n", result.ident,
                        static_cast<long long>(result.traces.at(0).run_count), result.run_seconds);
        }
    } catch (const spng::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return error.exit_status();
    }
}
