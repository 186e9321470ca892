// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples of which most are 0: the content of a frame behind ROIs, on the host. Frame files store it in the same
// form (docs/sparse-frames.md).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace spng {

struct SparseSamples {
    std::int64_t rows = 0;
    std::int64_t ticks = 0; ///< of each row
    /// (run, 3) int32: row, begin tick, end tick (not included). Ascending by row and tick; runs are not empty and
    /// do not overlap. All samples outside of the runs are 0.
    at::Tensor runs;
    at::Tensor values; ///< (sample) float32 or int16: the samples of the runs, one after the other
};

/// Contradiction between samples and the description of SparseSamples.
struct SparseFault {
    bool in_runs = true; ///< false: in the values
    std::string what = {};
    std::string seen = {};
    std::string expected = {};
};

/// Return the first fault of the samples; nothing if all functions of this header accept them.
std::optional<SparseFault> fault_of(const SparseSamples& samples);

/// Throw Error(Internal) for samples with a fault.
/// @param operation  the function that got them, for the message
void require_faultless(const SparseSamples& samples, const char* operation);

/// Return the samples as an array (row, tick), of the type of the values, on the host. Parallel over rows.
/// @throws Error(Internal) for samples with a fault
at::Tensor dense(const SparseSamples& sparse);

/// Return the shortest runs that hold all samples whose bits are not 0, so that -0.0 and NaN survive:
/// dense(sparse(x)) has the bytes of x. Parallel over rows.
/// @param dense  (row, tick) float32 or int16, on the host
/// @throws Error(Internal) for another tensor
SparseSamples sparse(const at::Tensor& dense);

/// Return the same samples in the shortest runs, sparse(dense(samples)), without making the array: samples that are
/// equal in dense form become equal in this form.
/// @throws Error(Internal) for samples with a fault
SparseSamples with_shortest_runs(const SparseSamples& samples);

} // namespace spng
