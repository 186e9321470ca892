#pragma once
// Depositions: charge set free at a point, or a Gaussian cloud of it on its way
// to the wires. The set of an event holds the field's two arrays, one column
// for each deposition:
//   depo_data  float64 (7, deposition)  t [ns], q [electrons, negative], x, y,
//   z [mm], sigma_L, sigma_T [mm] depo_info  int32   (4, deposition)  id (the
//   track), pdg, gen, child

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

struct Depositions {
    at::Tensor data; ///< float64 (7, n)
    at::Tensor info; ///< int32 (4, n)

    std::int64_t count() const { return data.size(1); }
};

/// None at all, on the host.
Depositions no_depositions();

/// Throws Error(Internal) unless shapes and types are as above.
void require_depositions(const Depositions& depositions, const char* operation);

/// The chosen columns, in this order. order: int64 (n)
Depositions selected_depositions(const Depositions& depositions, const at::Tensor& order);

/// In order of time; equal times keep their order, as the field's drifter asks
/// for.
Depositions sorted_by_time(const Depositions& depositions);

/// What was wrong with depositions.
struct DepositionFaults {
    std::int64_t not_finite = 0;      ///< a NaN or Inf in depo_data
    std::int64_t no_charge = 0;       ///< q is 0
    std::int64_t wrong_sign = 0;      ///< q has another sign than the sum of all
    std::int64_t negative_spread = 0; ///< sigma_L or sigma_T below 0
    bool turned = false;              ///< the charges were positive

    std::int64_t left_out() const { return not_finite + no_charge + wrong_sign + negative_spread; }
    /// "3 that are not finite, 1 without charge"; empty when there is no fault.
    std::string text() const;
};

struct CheckedDepositions {
    Depositions depositions;
    DepositionFaults faults;
};

/// Leaves out what cannot be simulated, each deposition counted for its first
/// fault. Charge is the electrons' and so negative; where the sum is positive,
/// the numbers are taken as counts of electrons and all are turned.
CheckedDepositions checked_depositions(const Depositions& depositions);

TensorSetPtr deposition_set(std::shared_ptr<const EventInfo> event, Depositions depositions);

/// Both arrays of a set. Throws Error(Input) when one is missing or has another
/// shape or type.
Depositions depositions_in(const TensorSet& set);

} // namespace spng
