// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/control_address.h"

#include "spng/core/error.h"
#include "spng/core/parse_number.h"

#include <cstdlib>

namespace spng::instrument {
namespace {

constexpr std::size_t longest_path = 107; // of sockaddr_un
constexpr std::size_t shortest_token = 16;

} // namespace

ControlAddress parse_control_address(const std::string& text, const std::string& where) {
    const auto reject = [&](const std::string& seen, const std::string& hint) -> Error {
        return {ErrorKind::Usage,
                {.what = "the address of the control cannot be used",
                 .where = where,
                 .seen = seen,
                 .expected = "unix:PATH (at most 107 characters) or tcp:PORT",
                 .hint = hint}};
    };
    ControlAddress address;
    if (text.rfind("unix:", 0) == 0) {
        address.path = text.substr(5);
        if (address.path.empty() || address.path.size() > longest_path) {
            throw reject("'" + text + "'", "a short path, such as unix:/tmp/job.sock");
        }
        return address;
    }
    const auto port = parse_number<std::uint16_t>(text.rfind("tcp:", 0) == 0 ? text.substr(4) : "");
    if (!port) {
        throw reject("'" + text + "'", "tcp:0 takes a free port");
    }
    address.port = *port;
    const char* const token = std::getenv("SPNG_PROFILE_TOKEN");
    address.token = token == nullptr ? "" : token;
    if (address.token.size() < shortest_token) {
        throw reject(token == nullptr ? "no token" : "a token of less than 16 characters",
                     "export SPNG_PROFILE_TOKEN=$(openssl rand -hex 16), or a Unix socket");
    }
    return address;
}

} // namespace spng::instrument
