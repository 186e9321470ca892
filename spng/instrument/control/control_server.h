// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/instrument/control/control_address.h"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>

namespace spng::instrument {

/// Serves requests on a thread that runs the context.
class ControlServer {
public:
    virtual ~ControlServer() = default;
    virtual std::string address() const = 0;
};

/// Throws boost::system::system_error. See CaptureControl.
std::unique_ptr<ControlServer> serve(boost::asio::io_context& context, const ControlAddress& address);

} // namespace spng::instrument
