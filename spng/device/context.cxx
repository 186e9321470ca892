// SPDX-License-Identifier: Apache-2.0
#include "spng/device/context.h"

#include "spng/core/log/log.h"
#include "spng/core/registry.h"
#include "spng/device/cuda_plugin.h"
#include "spng/device/device_list.h"
#include "spng/device/memory/byte_size.h"

namespace spng {
namespace {

const Registration<Context> registration{
    {.type = "SPNGContext",
     .kind = "service",
     .text = "device, precision, floating type and intra-op threads of the whole job"}};

} // namespace

c10::Device choose_device(const std::string& name, const std::string& where) {
    if (name == "cpu") {
        return c10::kCPU;
    }
    if (name == "auto") {
        return auto_means_cuda() ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
    }
    const int index = cuda_index(name, where);
    load_cuda_for(index, name, where);
    return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

void Context::configured() {
    listed_devices(config().device, at_key("device"));
    if (!config().memory_budget.empty() && memory_budget() == 0) {
        reject("memory_budget", config().memory_budget, "more than 0, such as 4GB; empty for no limit");
    }
}

std::int64_t Context::memory_budget() const {
    return bytes_from(config().memory_budget, at_key("memory_budget"));
}

void Context::prepare(Environment&) {
    if (config().verbosity > 0) {
        log::set_level(config().verbosity == 1 ? "info" : config().verbosity == 2 ? "debug" : "trace");
    }
    m_device = choose_device(config().device, at_key("device"));
    m_real = config().dtype == "float64" ? c10::kDouble : c10::kFloat;
}

c10::ScalarType Context::complex() const {
    return m_real == c10::kDouble ? c10::kComplexDouble : c10::kComplexFloat;
}

} // namespace spng
