// SPDX-License-Identifier: Apache-2.0
#pragma once
// The simulation as an object: depositions in the caller's memory in, waveforms and truth out.

#include "WireCellSpng/Pipeline.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace spng {

struct SimulationOptions {
    /// The arguments detname and tpcid of cfg/simulate.jsonnet.
    std::string detector = "pdhd";
    int anode = 0;
    /// Further arguments by name, as text ("seed": "7").
    std::map<std::string, std::string> arguments;
};

/// A warm simulation. Thread-safe, except construction and destruction.
class Simulation {
public:
    /// @throws Error as Pipeline()
    explicit Simulation(const SimulationOptions& options);
    ~Simulation();

    /// Simulate one event. Each event of an object has other random numbers.
    /// @param depositions  (7, count) in C order: t [ns], q [electrons, negative], x, y, z [mm], sigma_L, sigma_T [mm].
    ///                     Unusable ones are dropped, with a warning in the log
    /// @param ident        of the event, copied to the result
    /// @return a frame with the tags "adc" (int16), "truth" [electrons] and "roi" (int16)
    /// @throws Error(Input) for a null pointer or a negative count
    OutputFrame process(const double* depositions, std::int64_t count, int ident);

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace spng
