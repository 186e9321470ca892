// SPDX-License-Identifier: Apache-2.0
// The simulation (spng/pipeline/simulation.h) for python/spng/simulation.py.

#include "spng/pipeline/simulation.h"

#include "python/bindings/bindings.h"
#include "python/bindings/frames.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

namespace nb = nanobind;

namespace spng::python {
namespace {

using Depositions = nb::ndarray<nb::ro, const double, nb::shape<7, -1>, nb::c_contig, nb::device::cpu>;

/// Waits for the threads of the simulation without the GIL, which they may need for log lines.
class PythonSimulation {
public:
    PythonSimulation(const Text& detector, int anode, const std::map<std::string, Text>& arguments) {
        const nb::gil_scoped_release no_gil;
        m_simulation.emplace(SimulationOptions{detector.bytes, anode, strings_of(arguments)});
    }
    ~PythonSimulation() {
        const nb::gil_scoped_release no_gil;
        m_simulation.reset();
    }
    PythonSimulation(const PythonSimulation&) = delete;
    PythonSimulation& operator=(const PythonSimulation&) = delete;

    nb::object process(const Depositions& depositions, int ident) {
        OutputFrame frame;
        {
            const nb::gil_scoped_release no_gil;
            frame = m_simulation->process(depositions.data(), static_cast<std::int64_t>(depositions.shape(1)),
                                          ident);
        }
        return to_python(frame);
    }

private:
    std::optional<Simulation> m_simulation;
};

} // namespace

void bind_simulation(nb::module_& module) {
    nb::class_<PythonSimulation>(module, "Simulation")
        .def(nb::init<const Text&, int, const std::map<std::string, Text>&>())
        .def("process", &PythonSimulation::process);
}

} // namespace spng::python
