#include "spng/roi/threshold_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/context.h"
#include "spng/roi/robust_rms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

namespace spng {
namespace {

const Registration<ThresholdROIs> registration{{.type = "SPNGThresholdROIs",
                                                .kind = "roi",
                                                .inputs = {"waveform"},
                                                .outputs = {"regions"},
                                                .text = "where a channel exceeds its noise"}};

} // namespace

at::Tensor threshold_regions(const at::Tensor& waveform, const at::Tensor& sigma, const at::Tensor& factors,
                             double nominal, const at::Tensor& good) {
    require_tensor(waveform.dim() == 3 && is_real(waveform), "threshold_regions", "waveform", waveform,
                   "real (view, channel, tick)");
    require_tensor(same_rows(waveform, sigma.unsqueeze(-1)), "threshold_regions", "sigma", sigma,
                   "(view, channel)");
    require_tensor(factors.dim() == 1 && (factors.size(0) == 1 || factors.size(0) == waveform.size(0)),
                   "threshold_regions", "factors", factors, "(view or 1)");
    const at::Tensor threshold = sigma * factors.unsqueeze(-1) + nominal;
    return (waveform > threshold.unsqueeze(-1)).logical_and_(good.unsqueeze(-1));
}

void ThresholdROIs::prepare_node(Environment&) {
    m_factors =
        at::tensor(config().threshold_rms_factor, at::kDouble).to(context().device(), context().real());
}

Ports ThresholdROIs::process(const Ports& inputs) {
    const NamedTensor& waveform = inputs[0]->only();
    NamedTensor regions;
    {
        NVTX_SCOPED_RANGE("ThresholdROIs::rms");
        regions.summary = config().rms == "robust" ? robust_rms(waveform.data) : plain_rms(waveform.data);
    }
    NVTX_SCOPED_RANGE("ThresholdROIs::threshold");
    regions.name = config().output;
    regions.data = threshold_regions(waveform.data, regions.summary, m_factors, config().nominal,
                                     waveform.channels->good);
    regions.axes = waveform.axes;
    regions.channels = waveform.channels;
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(regions)})};
}

} // namespace spng
