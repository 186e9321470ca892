// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/depo_file_source.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/io/data_path.h"

#include <utility>

namespace spng {
namespace {

const Registration<DepoFileSource> registration{{.type = "SPNGDepoFileSource",
                                                 .kind = "source",
                                                 .outputs = {"depositions"},
                                                 .concurrency = Concurrency::serial,
                                                 .text = "reads the events of a file of depositions",
                                                 .wct_name = "DepoFileSource"}};

void report(const std::string& logger, const DepoEvent& event, const DepositionFaults& faults) {
    const std::string where = "event " + std::to_string(event.ident) + ": ";
    if (faults.dropped() != 0) {
        log::warn(logger, [&] {
            return where + "dropped " + std::to_string(faults.dropped()) + " of " +
                   std::to_string(event.depositions.count()) + " depositions: " + faults.text();
        });
    }
    if (faults.sign_flipped) {
        log::warn(logger,
                  [&] { return where + "charges are positive; they are used as numbers of electrons"; });
    }
    log::debug(logger, [&] {
        return where + std::to_string(event.depositions.count()) + " depositions, and " +
               std::to_string(event.ancestors) + " of earlier times (gen > 0) ignored";
    });
}

} // namespace

TensorSetPtr set_from(const DepoEvent& event, std::uint64_t index, const std::string& logger) {
    CheckedDepositions checked = checked_depositions(event.depositions);
    report(logger, event, checked.faults);
    auto info = std::make_shared<EventInfo>();
    info->index = index;
    info->ident = event.ident;
    return deposition_set(std::move(info), std::move(checked.depositions));
}

std::vector<std::filesystem::path> DepoFileSource::files_read() const {
    return {find_data_file(config().inname)};
}

void DepoFileSource::begin_run(Environment&) {
    m_calls = 0;
    m_events = 0;
    m_reader = std::make_unique<DepoReader>(files_read().front());
}

Ports DepoFileSource::process(const Ports&) {
    if (at_end()) {
        return {nullptr};
    }
    NVTX_SCOPED_RANGE("DepoFileSource::read");
    const bool first = m_calls++ == 0;
    const auto event = m_reader->next();
    if (!event) {
        if (first) {
            throw Error(ErrorKind::Input, {.what = "the file holds no event",
                                           .where = config().inname,
                                           .seen = m_reader->other_members().empty()
                                                       ? "an empty archive"
                                                       : "members " + joined(m_reader->other_members()),
                                           .expected = "depo_data_<ident>.npy and depo_info_<ident>.npy",
                                           .hint = "check that it is a file of depositions"});
        }
        return {nullptr};
    }
    return {set_from(*event, m_events++, name().text())};
}

} // namespace spng
