// The worked example of spng/README.md, "A new node". The page shows these lines;
// tests/checks/test_documents.py holds it to that.

// spng/roi/clip.h
#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

namespace spng {

struct ClipConfig {
    double low = 0;
    double high = 0;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&ClipConfig::low, "low", "electrons", any(), "samples below become this"),
            field(&ClipConfig::high, "high", "electrons", required(), "samples above become this"));
    }
};

/// min(max(x, low), high) of each sample. Shape and type stay; NaN stays NaN.
at::Tensor clip(const at::Tensor& waveform, double low, double high);

/// In: waveforms (view, channel, tick) [electrons]. Out: the same, within [low, high].
class Clip : public NodeWith<ClipConfig> {
protected:
    void configured() override;
    Ports process(const Ports& inputs) override;
};

} // namespace spng

// spng/roi/clip.cxx
#include "WireCellSpng/TorchnvTools.h"

#include <ATen/ops/clamp.h>

namespace spng {
namespace {

const Registration<Clip> registration{{.type = "SPNGClip",
                                       .kind = "roi",
                                       .inputs = {"waveforms"},
                                       .outputs = {"waveforms"},
                                       .text = "samples kept within an interval"}};

} // namespace

at::Tensor clip(const at::Tensor& waveform, double low, double high) {
    return at::clamp(waveform, low, high);
}

void Clip::configured() {
    if (config().high <= config().low) {
        refuse("high", std::to_string(config().high), "more than low, " + std::to_string(config().low));
    }
}

Ports Clip::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("Clip::clip");
    std::vector<NamedTensor> tensors = inputs[0]->tensors();
    for (auto& tensor : tensors) {
        tensor.data = clip(tensor.data, config().low, config().high);
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
}

} // namespace spng

// tests/roi/clip_test.cxx
#include "tests/dnn/components.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace spng::test {
namespace {

TEST(Clip, step) {
    const at::Tensor seen = clip(at::tensor({-3.0, 0.5, 7.0}), 0, 2);
    EXPECT_TRUE(seen.equal(at::tensor({0.0, 0.5, 2.0})));
}

TEST(Clip, node) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGClip:test", {{"high", 2}}));
    node.prepare(components.environment());
    NamedTensor waveform;
    waveform.name = "gauss";
    waveform.data = at::full({1, 2, 4}, 9.0);
    const auto input =
        std::make_shared<const TensorSet>(std::make_shared<const EventInfo>(), std::vector{waveform});
    const Ports outputs = node.call(0, {input}, {});
    EXPECT_TRUE(outputs.at(0)->at("gauss").data.equal(at::full({1, 2, 4}, 2.0)));
}

TEST(Clip, configuration) {
    Components components;
    const Error reversed = error_of([&] { components.add("SPNGClip:test", {{"low", 2}, {"high", 1}}); });
    EXPECT_EQ(reversed.text().where, "SPNGClip:test, key high");
    const Error misspelt = error_of([&] { components.add("SPNGClip:test", {{"hihg", 1}}); });
    EXPECT_EQ(misspelt.text().mend, "did you mean 'high'?");
}

} // namespace
} // namespace spng::test
