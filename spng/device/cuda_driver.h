// SPDX-License-Identifier: Apache-2.0
#pragma once
// Query the CUDA driver without any library of CUDA or LibTorch: whether it exists, whether it starts, and
// its devices. A driver that does not start returns an error code; this header turns it into text for users.

#include <string>

namespace spng {

struct CudaDriver {
    bool present = false;     ///< libcuda.so.1 could be opened
    int error = 0;            ///< result of cuInit or cuDeviceGetCount; 0: the driver works
    std::string error_text{}; ///< the driver's text for `error`, "CUDA_ERROR_NO_DEVICE (100): no CUDA-..."
    int version = 0;          ///< newest CUDA that it can run, 1000 * major + 10 * minor; 0: unknown
    int devices = 0;          ///< count of devices; 0 unless the driver works
    std::string load_error{}; ///< why libcuda.so.1 could not be opened

    /// Return true on a machine with a driver but without a GPU.
    bool has_no_device() const;
};

/// Open libcuda.so.1 and start the driver. Later calls only return its state again. The library stays open,
/// since CUDA may have started in it.
CudaDriver query_cuda_driver();

/// Return the compute capability of a device, 10 * major + minor; 0 without such a device or a driver.
int compute_capability(int device);

/// Return a hint for a driver in this state.
std::string cuda_driver_hint(const CudaDriver& driver);

/// Format a version: 13020 -> "13.2".
std::string cuda_version_text(int version);

} // namespace spng
