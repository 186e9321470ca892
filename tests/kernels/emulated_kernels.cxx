// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulated_kernels.h"

#include <type_traits>
#include <utility>

#include "tests/kernels/emulator/device.h"

#include "spng/kernels/plugin/all.cu"

namespace spng::emulation {

namespace {

template <class Type>
struct ParameterOf {
    using Value = Type;
    static constexpr std::size_t values = 1;
};
template <class Type, int size>
struct ParameterOf<kernels::List<Type, size>> {
    using Value = Type;
    static constexpr std::size_t values = size;
};

template <class Type>
constexpr Parameter parameter_of() {
    using Value = typename ParameterOf<Type>::Value;
    static_assert(sizeof(Value) <= sizeof(std::uint64_t));
    return {sizeof(Value), ParameterOf<Type>::values, std::is_pointer_v<Value>,
            std::is_const_v<std::remove_pointer_t<Value>>};
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
        KERNEL(select_rows_int16),
        KERNEL(select_rows_float32),
        KERNEL(select_rows_float64),
        KERNEL(pack_ticks),
        KERNEL(unpack_ticks),
        KERNEL(pack_levels_float32),
        KERNEL(pack_levels_float64),
        KERNEL(coincidence),
        KERNEL(multi_plane),
        KERNEL(robust_noise_float32),
        KERNEL(robust_noise_float64),
        KERNEL(robust_noise_of_short_rows_float32),
        KERNEL(robust_noise_of_short_rows_float64),
        KERNEL(capped_noise_float32),
        KERNEL(capped_noise_float64),
        KERNEL(plain_rms_float32),
        KERNEL(plain_rms_float64),
        KERNEL(compact_regions_linear_float32),
        KERNEL(compact_regions_linear_float64),
        KERNEL(bend_negative_float32),
        KERNEL(bend_negative_float64),
        KERNEL(compact_regions_restored_float32),
        KERNEL(compact_regions_restored_float64),
        KERNEL(expand_rows_float32),
        KERNEL(expand_rows_float64),
        KERNEL(copy_compacted_float32),
        KERNEL(copy_compacted_float64),
        KERNEL(gather_words),
        KERNEL(gather_rows_float32),
        KERNEL(gather_rows_float64),
        KERNEL(grow_regions),
        KERNEL(join_neighbours),
        KERNEL(clipped_running_sum_float32),
        KERNEL(clipped_running_sum_float64),
        KERNEL(sum_of_neighbours_float32),
        KERNEL(sum_of_neighbours_float64),
        KERNEL(stack_features_float32),
        KERNEL(stack_features_float64),
        KERNEL(waveform_spectrum_int16_float32),
        KERNEL(waveform_spectrum_int16_float64),
        KERNEL(waveform_spectrum_float32),
        KERNEL(waveform_spectrum_float64),
        KERNEL(interpolate_rows_float32),
        KERNEL(interpolate_rows_float64),
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
