#pragma once

#include <string>

namespace spng::instrument {

/// What the nodes of this process have cost until now, in the text format 0.0.4 of Prometheus. Sums are
/// counters, `spng_node_..._total{node="Type:instance",type="Type"}`, in seconds and bytes; peaks are gauges.
/// What is not measured (device times on the CPU) is left out, and so are nodes that were not called.
std::string prometheus_text(bool recording);

} // namespace spng::instrument
