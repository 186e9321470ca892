// SPDX-License-Identifier: Apache-2.0
// A program without a test framework: status 0 if all is right.
#include "gain_correction.h"

#include <ATen/ops/tensor.h>

#include <cstdio>

int main() {
    const bool divides = example::correct_gain(at::tensor({3.0, -5.0}), 2).equal(at::tensor({1.5, -2.5}));

    bool rejects = false;
    try {
        spng::Registry::instance()
            .make(spng::ComponentName::from("ExampleGainCorrection:test"))
            ->configure({{"factor", 0}});
    } catch (const spng::Error& error) {
        rejects = error.text().where == "ExampleGainCorrection:test, key factor";
    }
    std::printf("divides: %d, rejects a factor of 0: %d\n", divides, rejects);
    return divides && rejects ? 0 : 1;
}
