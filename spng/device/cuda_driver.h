#pragma once
// The CUDA driver, asked without any library of CUDA or LibTorch: whether it is there, whether it starts, and
// what it drives. A driver that does not start says why by a number; users need words.

#include <cstdint>
#include <string>

namespace spng {

struct CudaDriver {
    bool present = false;  ///< libcuda.so.1 could be opened
    int error = 0;         ///< what cuInit or cuDeviceGetCount answered; 0: it works
    std::string said{};    ///< that answer in the driver's words, "CUDA_ERROR_NO_DEVICE (100): no CUDA-..."
    int version = 0;       ///< newest CUDA that it can run, 1000 * major + 10 * minor; 0: unknown
    int devices = 0;       ///< 0 unless it works
    std::string library{}; ///< why libcuda.so.1 could not be opened

    /// A machine with a driver and no card.
    bool has_no_device() const;
};

/// Opens libcuda.so.1 and starts it; later calls start it again, which the driver takes as a question. The
/// library stays open, since CUDA may have started in it.
CudaDriver ask_cuda_driver();

/// Compute capability of a device, 10 * major + minor; 0 where there is no such device or no driver.
int compute_capability(int device);

/// As nvidia-smi writes it, "GPU-8-4-4-4-12 hexadecimal digits", of the part where a GPU is divided; "" where
/// there is no such device or no driver.
std::string uuid_of(int device);

/// Bytes of a device; 0 where there is no such device or no driver.
std::int64_t total_memory_of(int device);

/// What to do about a driver that answered so.
std::string cuda_driver_hint(const CudaDriver& driver);

/// 13020 -> "13.2".
std::string cuda_version_text(int version);

} // namespace spng
