// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/depo_file_sink.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/nodes/sim/depos/depositions.h"

#include <optional>

namespace spng {
namespace {

const Registration<DepoFileSink> registration{{.type = "SPNGDepoFileSink",
                                               .kind = "sink",
                                               .inputs = {"depositions"},
                                               .concurrency = Concurrency::serial,
                                               .text = "writes events of depositions to a file",
                                               .wct_name = "DepoFileSink"}};

} // namespace

void DepoFileSink::begin_run(Environment&) {
    // Open the file before the first event, so that an unwritable folder is reported before any work is done.
    m_archive = std::make_unique<ArchiveWriter>(
        config().outname, config().level < 0 ? std::nullopt : std::optional(config().level));
}

Ports DepoFileSink::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("DepoFileSink::write");
    const Depositions depositions = depositions_in(*inputs[0]);
    const std::string ending = "_" + std::to_string(inputs[0]->event().ident) + ".npy";
    m_archive->add(depo_data_name + ending, depositions.data.t().to(at::kCPU, at::kFloat).contiguous());
    m_archive->add(depo_info_name + ending, depositions.info.t().cpu().contiguous());
    m_archive->mark_worth_keeping();
    return {};
}

} // namespace spng
