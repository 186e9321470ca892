// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frequency filters with the formulas and keys of the Wire-Cell Toolkit: real, zero-phase functions of the
// frequency (docs/physics-notes.md#filters). Unit of the frequency: 1/ns along ticks (wc.megahertz in
// Jsonnet), cycles per wire along channels.

#include "spng/core/component.h"

namespace spng {

class FilterFunction {
public:
    virtual ~FilterFunction() = default;
    /// @param frequency  >= 0
    virtual double value(double frequency) const = 0;
};

struct HfFilterConfig {
    double sigma = 0;
    double power = 2;
    bool flag = false;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&HfFilterConfig::sigma, "sigma", "1/ns or 1/wire", required(above(0)),
                  "frequency at which the filter is exp(-1/2)"),
            field(&HfFilterConfig::power, "power", "1", above(0), "exponent of the frequency"),
            field(&HfFilterConfig::flag, "flag", "", any(), "remove the zero-frequency bin"));
    }
};

/// Low pass exp(-(f/sigma)^power / 2).
class HfFilter : public ServiceWith<HfFilterConfig>, public FilterFunction {
public:
    double value(double frequency) const override;
};

struct LfFilterConfig {
    double tau = 0;
    static constexpr auto fields() {
        return std::make_tuple(field(&LfFilterConfig::tau, "tau", "1/ns", required(above(0)),
                                     "frequency at which the filter is 1 - 1/e"));
    }
};

/// High pass 1 - exp(-(f/tau)^2).
class LfFilter : public ServiceWith<LfFilterConfig>, public FilterFunction {
public:
    double value(double frequency) const override;
};

} // namespace spng
