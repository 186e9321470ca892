#include "spng/device/context.h"

#include "spng/core/log.h"
#include "spng/core/registry.h"
#include "spng/device/byte_size.h"
#include "spng/device/cuda_plugin.h"
#include "spng/device/device_list.h"
#include "spng/device/host_buffers.h"

#include <ATen/Context.h>

#include <charconv>

namespace spng {
namespace {

const Registration<Context> registration{
    {.type = "SPNGContext",
     .kind = "service",
     .inputs = {},
     .outputs = {},
     .text = "device, precision, floating type and intra-op threads of the whole job"}};

bool starts_with(const std::string& text, const std::string& prefix) {
    return text.compare(0, prefix.size(), prefix) == 0;
}

/// "cuda", "cuda:2", "gpu", "gpu2", "gpu:2" -> device number; anything else is refused.
int cuda_number(const std::string& text) {
    std::string rest;
    if (starts_with(text, "cuda")) {
        rest = text.substr(4);
    } else if (starts_with(text, "gpu")) {
        rest = text.substr(3);
    } else {
        rest = "?";
    }
    if (rest.empty()) {
        return 0;
    }
    if (rest[0] == ':') {
        rest.erase(0, 1);
    }
    int number = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (rest.empty() || error != std::errc{} || end != rest.data() + rest.size() || number < 0) {
        throw Error(ErrorKind::Configuration, {.what = "unknown device",
                                               .where = std::string(context_name) + ", key device",
                                               .seen = "'" + text + "'",
                                               .expected = "auto, cpu, cuda, cuda:N, gpu or gpuN",
                                               .mend = {}});
    }
    return number;
}

c10::Device choose(const std::string& asked) {
    if (asked == "cpu") {
        return c10::kCPU;
    }
    if (asked == "auto") {
        return auto_means_cuda() ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
    }
    const int number = cuda_number(asked);
    load_cuda_for(number, asked, std::string(context_name) + ", key device");
    return {c10::kCUDA, static_cast<c10::DeviceIndex>(number)};
}

} // namespace

void Context::configured() {
    listed_devices(config().device, name().text() + ", key device");
    memory_budget();
}

std::int64_t Context::memory_budget() const {
    return bytes_from(config().memory_budget, name().text() + ", key memory_budget");
}

void Context::prepare(Environment&) {
    if (config().verbosity > 0) {
        log::set_level(config().verbosity == 1 ? "info" : config().verbosity == 2 ? "debug" : "trace");
    }
    m_device = choose(config().device);
    m_real = config().dtype == "float64" ? c10::kDouble : c10::kFloat;
    const bool fast = config().precision == "fast";
    if (m_device.is_cuda()) {
        at::globalContext().setAllowTF32CuBLAS(fast);
        at::globalContext().setAllowTF32CuDNN(fast);
        at::globalContext().setDeterministicCuDNN(!fast);
    }
    reuse_host_buffers();
}

c10::ScalarType Context::complex() const {
    return m_real == c10::kDouble ? c10::kComplexDouble : c10::kComplexFloat;
}

} // namespace spng
