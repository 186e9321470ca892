// SPDX-License-Identifier: Apache-2.0
// Requests to the control of a running job, over its socket.

#include "spng/instrument/control/control_server.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <array>

namespace spng::fuzz {
namespace {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;

constexpr std::string_view words[] = {"GET ",
                                      "POST ",
                                      "/health",
                                      "/timings",
                                      "/start_profile",
                                      " HTTP/1.1\r\n",
                                      "Host: a\r\n",
                                      "Content-Length: ",
                                      "Transfer-Encoding: chunked\r\n",
                                      "Authorization: Bearer ",
                                      "Expect: 100-continue\r\n",
                                      "Connection: upgrade\r\n",
                                      "\r\n\r\n",
                                      "\r\n",
                                      "99999999999999999999",
                                      "0\r\n\r\n",
                                      std::string_view("\0", 1)};

/// Send the bytes, close that side, and return the status line.
std::string exchange(asio::io_context& context, const std::string& path, const std::string& bytes) {
    Protocol::socket client(context);
    client.connect(Protocol::endpoint(path));
    boost::system::error_code failure; // the server may answer and close before it has read everything
    asio::write(client, asio::buffer(bytes.data(), std::min<std::size_t>(bytes.size(), 100000)), failure);
    failure = client.shutdown(Protocol::socket::shutdown_send, failure);
    std::string reply;
    std::array<char, 4096> block;
    bool is_open = true;
    std::function<void()> receive = [&] {
        client.async_read_some(asio::buffer(block),
                               [&](boost::system::error_code problem, std::size_t count) {
                                   reply.append(block.data(), count);
                                   is_open = !problem;
                                   if (is_open) {
                                       receive();
                                   }
                               });
    };
    receive();
    while (is_open) {
        context.run_one();
    }
    return reply.substr(0, reply.find('\r'));
}

void run(const Input& input, Results& results) {
    const std::string path = input.file.parent_path() / "socket";
    asio::io_context context;
    const auto server = instrument::serve(context, {.path = path, .port = 0, .token = ""});
    const std::string reply = exchange(context, path, input.bytes);
    if (!reply.empty() && !reply.starts_with("HTTP/1.1 ")) {
        throw Defect("no status line in the reply");
    }
    results.add(reply);
    if (exchange(context, path, "GET /health HTTP/1.1\r\n\r\n") != "HTTP/1.1 200 OK") {
        throw Defect("the server does not answer the next request");
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

} // namespace

Target control_target() {
    return {"control", "input.txt", &run, &mutate, &text_bytes_allowed, words};
}

} // namespace spng::fuzz
