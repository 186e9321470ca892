// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of wire-cell --serve.

#include "spng/kserve/address.h"
#include "spng/serve/serve_limits.h"

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace spng::app {

struct ServeRequest {
    std::vector<kserve::Address> addresses; ///< at least one
    std::string name;                       ///< of the model; empty: that of the configuration file
    std::size_t queue_size = 4;
    ServeLimits limits;
};

boost::program_options::options_description serve_options();

/// Read the options. Call it if --serve is given.
/// @throws Error(Usage) for addresses and numbers that are not valid
ServeRequest serve_request(const boost::program_options::variables_map& values);

/// @throws Error(Usage) for an option that has no effect without --serve
void require_no_serve_options(const boost::program_options::variables_map& values);

} // namespace spng::app
