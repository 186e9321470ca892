// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses of servers, for wire-cell --serve and for SPNGTorchService.

#include <cstdint>
#include <string>

namespace spng::kserve {

struct Address {
    enum class Protocol { http, grpc };
    Protocol protocol = Protocol::http;
    std::string path; ///< of a Unix socket; empty: TCP
    std::string host; ///< name or IP address, without the brackets of IPv6
    std::uint16_t port = 0;

    bool is_unix() const { return !path.empty(); }
    /// Whether only this machine can connect.
    bool is_local() const;
    /// "http://127.0.0.1:8000", "unix:/run/spng.sock", "grpc://[::1]:8001", "grpc://unix:/run/spng.sock".
    std::string text() const;
};

/// Parse "unix:PATH" or "HOST:PORT", either with http:// (the default) or grpc:// before it. An empty host is 127.0.0.1.
/// @param where  option or key, for errors
/// @throws Error(Usage)
Address parse_address(const std::string& text, const std::string& where);

} // namespace spng::kserve
