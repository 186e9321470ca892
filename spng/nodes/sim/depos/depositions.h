// SPDX-License-Identifier: Apache-2.0
#pragma once
// Depositions: charge released at a point, or a Gaussian cloud of charge that drifts to the wires. The set of
// an event holds the two arrays of the Wire-Cell Toolkit, with one column per deposition:
//   depo_data  float64 (7, deposition): t [ns], q [electrons, negative], x, y, z [mm], sigma_L, sigma_T [mm]
//   depo_info  int32 (4, deposition): id (of the track), pdg, gen, child

#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

namespace spng {

inline constexpr const char* depo_data_name = "depo_data";
inline constexpr const char* depo_info_name = "depo_info";

/// Rows of depo_data.
namespace depo_row {
enum : std::int64_t { time, charge, x, y, z, sigma_long, sigma_tran, count };
}

/// Rows of depo_info.
namespace depo_info_row {
enum : std::int64_t { id, pdg, generation, child, count };
}

/// Magnitudes beyond those of any detector. A Gaussian takes memory in proportion to its width: diffusion over
/// the longest drift is about 10 mm.
inline constexpr double max_time = 1e15;    ///< [ns]
inline constexpr double max_charge = 1e12;  ///< [electrons]
inline constexpr double max_position = 1e9; ///< [mm]
inline constexpr double max_spread = 100;   ///< sigma_L, sigma_T [mm]

struct Depositions {
    at::Tensor data; ///< float64 (7, n)
    at::Tensor info; ///< int32 (4, n)

    std::int64_t count() const { return data.size(1); }
};

/// Return an empty list on the host.
Depositions no_depositions();

/// @throws Error(Internal) for other shapes or types
void require_depositions(const Depositions& depositions, const char* operation);

/// Return the columns with the indices `order`, (n) int64.
Depositions selected_depositions(const Depositions& depositions, const at::Tensor& order);

/// Sort by time, as WCT's drifter requires. Equal times keep their order.
Depositions sorted_by_time(const Depositions& depositions);

/// Numbers of depositions with faults.
struct DepositionFaults {
    std::int64_t not_finite = 0;      ///< NaN or Inf in depo_data
    std::int64_t no_charge = 0;       ///< q is 0
    std::int64_t wrong_sign = 0;      ///< sign of q differs from the sign of the sum
    std::int64_t negative_spread = 0; ///< sigma_L or sigma_T below 0
    std::int64_t implausible = 0;     ///< beyond max_time, max_charge, max_position or max_spread
    bool sign_flipped = false;        ///< the charges were positive

    std::int64_t dropped() const {
        return not_finite + no_charge + wrong_sign + negative_spread + implausible;
    }
    /// Return the faults as text, for example "3 not finite, 1 without charge"; empty without faults.
    std::string text() const;
};

struct CheckedDepositions {
    Depositions depositions;
    DepositionFaults faults;
};

/// Drop depositions that cannot be simulated. Each counts for its first fault. Charge is the charge of
/// electrons and therefore negative; if the sum is positive, the values are numbers of electrons and all
/// signs are flipped.
CheckedDepositions checked_depositions(const Depositions& depositions);

TensorSetPtr deposition_set(std::shared_ptr<const EventInfo> event, Depositions depositions);

/// Return both arrays of a set.
/// @throws Error(Input) if one is missing or has another shape or type
Depositions depositions_in(const TensorSet& set);

} // namespace spng
