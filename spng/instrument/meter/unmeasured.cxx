// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/meter/unmeasured.h"

namespace spng::instrument {
namespace {

thread_local int t_depth = 0;

} // namespace

Unmeasured::Unmeasured() {
    ++t_depth;
}

Unmeasured::~Unmeasured() {
    --t_depth;
}

bool Unmeasured::is_on() {
    return t_depth > 0;
}

} // namespace spng::instrument
