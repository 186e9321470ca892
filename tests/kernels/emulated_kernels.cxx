// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulated_kernels.h"

#include <type_traits>
#include <utility>

#include "tests/kernels/emulator/device.h"

#include "spng/kernels/all.cu"

namespace spng::emulation {

namespace {

template <class Type>
constexpr Parameter parameter_of() {
    static_assert(sizeof(Type) <= sizeof(std::uint64_t));
    return {sizeof(Type), std::is_pointer_v<Type>, std::is_const_v<std::remove_pointer_t<Type>>};
}

template <auto kernel, class... Parameters, std::size_t... index>
EmulatedKernel kernel_of(void (*)(Parameters...), std::index_sequence<index...>) {
    return {{parameter_of<std::remove_cv_t<Parameters>>()...}, [](std::span<void* const> arguments) {
                kernel(*static_cast<std::remove_cv_t<Parameters>*>(arguments[index])...);
            }};
}
template <auto kernel, class... Parameters>
EmulatedKernel kernel_of(void (*pointer)(Parameters...)) {
    return kernel_of<kernel>(pointer, std::index_sequence_for<Parameters...>{});
}

} // namespace

const std::map<std::string, EmulatedKernel>& emulated_kernels() {
#define KERNEL(name)                                                                                         \
    { #name, kernel_of<kernels::name>(&kernels::name) }
    static const std::map<std::string, EmulatedKernel> kernels_by_name{
        KERNEL(pack_ticks),
        KERNEL(unpack_ticks),
        KERNEL(pack_above_float32),
        KERNEL(pack_above_float64),
        KERNEL(coincidence),
        KERNEL(or_neighbours),
        KERNEL(multi_plane),
        KERNEL(robust_noise_float32),
        KERNEL(robust_noise_float64),
        KERNEL(robust_noise_of_short_rows_float32),
        KERNEL(robust_noise_of_short_rows_float64),
        KERNEL(plain_rms_float32),
        KERNEL(plain_rms_float64),
        KERNEL(apply_regions_linear_float32),
        KERNEL(apply_regions_linear_float64),
        KERNEL(apply_regions_restored_float32),
        KERNEL(apply_regions_restored_float64),
        KERNEL(grow_regions),
        KERNEL(confirmed_runs),
        KERNEL(clipped_running_sum_float32),
        KERNEL(clipped_running_sum_float64),
        KERNEL(waveform_spectrum_int16_float32),
        KERNEL(waveform_spectrum_int16_float64),
        KERNEL(waveform_spectrum_float32),
        KERNEL(waveform_spectrum_float64),
        KERNEL(deconvolve_float32),
        KERNEL(deconvolve_float64),
        KERNEL(apply_time_filter_float32),
        KERNEL(apply_time_filter_float64),
    };
#undef KERNEL
    return kernels_by_name;
}

void run(const EmulatedKernel& kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
         std::span<void* const> arguments, std::uint64_t seed) {
    static std::map<unsigned, BlockRunner> runners; // by threads
    BlockRunner& runner = runners.try_emplace(threads, threads).first->second;
    runner.begin_launch(shared_bytes, seed);
    const auto body = [&] { kernel.call(arguments); };
    for (unsigned block = 0; block < blocks; ++block) {
        runner.run(body, {block, 0, 0}, {blocks, 1, 1});
    }
}

} // namespace spng::emulation
