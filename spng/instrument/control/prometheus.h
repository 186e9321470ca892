// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng::instrument {

/// Return the costs of this process's nodes until now, in the text format 0.0.4 of Prometheus. Sums are
/// counters, `spng_node_..._total{node="Type:instance",type="Type"}`, in seconds and bytes; peaks are gauges.
/// Omit unmeasured quantities (device times on the CPU) and nodes that were not called.
std::string prometheus_text(bool recording);

} // namespace spng::instrument
