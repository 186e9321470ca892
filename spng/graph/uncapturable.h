// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng {

/// Mix-in for nodes whose device work cannot always be captured into a CUDA graph, because they wait for the
/// device or queue different work from call to call.
class Uncapturable {
public:
    virtual ~Uncapturable() = default;

    /// @return the reason in a few words ("the network is an AOTInductor package"); empty if the work can be
    /// captured. Call after prepare().
    virtual std::string capture_rejection() const = 0;
};

} // namespace spng
