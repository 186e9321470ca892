// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/address.h"

#include "spng/core/error.h"
#include "spng/core/parse_value.h"

#include <algorithm>
#include <cctype>

namespace spng::kserve {
namespace {

constexpr std::size_t longest_path = 107; // of sockaddr_un
constexpr const char* loopback = "127.0.0.1";

/// Remove the prefix if the text has it.
bool remove_prefix(std::string& text, const std::string& prefix) {
    const bool has_prefix = text.starts_with(prefix);
    text.erase(0, has_prefix ? prefix.size() : 0);
    return has_prefix;
}

bool is_host(const std::string& host) {
    return !host.empty() && std::all_of(host.begin(), host.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == ':' || c == '_' || c == '%';
    });
}

} // namespace

bool Address::is_local() const {
    return is_unix() || host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string Address::text() const {
    const std::string bracketed = host.find(':') == std::string::npos ? host : "[" + host + "]";
    const std::string location = is_unix() ? "unix:" + path : bracketed + ":" + std::to_string(port);
    const bool is_plain = protocol == Protocol::http && is_unix();
    return (is_plain ? "" : protocol == Protocol::http ? "http://" : "grpc://") + location;
}

Address parse_address(const std::string& text, const std::string& where) {
    const auto reject = [&](const std::string& hint) -> Error {
        return {
            ErrorKind::Usage,
            {.what = "the address of the server cannot be used",
             .where = where,
             .seen = "'" + text + "'",
             .expected = "unix:PATH (at most 107 characters) or HOST:PORT, for gRPC with grpc:// before it",
             .hint = hint}};
    };
    std::string rest = text;
    Address address;
    if (remove_prefix(rest, "grpc://")) {
        address.protocol = Address::Protocol::grpc;
    } else {
        remove_prefix(rest, "http://");
    }
    if (remove_prefix(rest, "unix:")) {
        if (rest.empty() || rest.size() > longest_path || rest.find('\0') != std::string::npos) {
            throw reject("a short path, such as unix:/tmp/spng.sock");
        }
        address.path = rest;
        return address;
    }
    const auto colon = rest.rfind(':');
    const auto port = parse_value<std::uint16_t>(colon == std::string::npos ? "" : rest.substr(colon + 1));
    if (!port) {
        throw reject(rest.find("://") != std::string::npos ? "https is not supported; use a proxy for TLS"
                                                           : "such as 127.0.0.1:8000");
    }
    address.port = *port;
    address.host = colon == 0 ? loopback : rest.substr(0, colon);
    if (address.host.front() == '[' && address.host.back() == ']') {
        address.host = address.host.substr(1, address.host.size() - 2);
    }
    if (!is_host(address.host)) {
        throw reject("such as 127.0.0.1:8000");
    }
    return address;
}

} // namespace spng::kserve
