// SPDX-License-Identifier: Apache-2.0
#include "spng/app/serve_options.h"

#include "spng/core/error.h"
#include "spng/core/parse_value.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace spng::app {
namespace {

namespace po = boost::program_options;

constexpr double longest_seconds = 1e6;

[[noreturn]] void reject(const std::string& option, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Usage, {.what = "the value of an option is not valid",
                                   .where = "--" + option,
                                   .seen = "'" + seen + "'",
                                   .expected = expected,
                                   .hint = "see docs/server.md, or wire-cell --help"});
}

template <class Value>
void read(const po::variables_map& values, const char* option, Value low, Value high, const char* expected,
          Value& target) {
    if (values.count(option) == 0) {
        return;
    }
    const auto text = values[option].as<std::string>();
    const auto value = parse_value<Value>(text);
    if (!value || !(*value >= low && *value <= high)) {
        reject(option, text, expected);
    }
    target = *value;
}

std::string model_name(const po::variables_map& values) {
    if (values.count("serve-name") == 0) {
        return {};
    }
    auto name = values["serve-name"].as<std::string>();
    const bool is_name =
        !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
        });
    if (!is_name) {
        reject("serve-name", name, "letters, digits, dots, dashes and underscores, at most 100");
    }
    return name;
}

} // namespace

po::options_description serve_options() {
    po::options_description options("Server (docs/server.md)");
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    options.add_options() //
        ("serve", po::value<std::vector<std::string>>()->value_name("ADDRESS")->composing(),
         "process frames of clients (KServe v2) until SIGTERM: unix:PATH or HOST:PORT, for gRPC with grpc:// "
         "before "
         "it; several: all of them")                                                          //
        ("serve-name", text("NAME"), "name of the model; default: that of the configuration") //
        ("serve-queue", text("N"), "frames that may wait (4); more are rejected")             //
        ("serve-max-bytes", text("BYTES"), "largest request (1073741824)")                    //
        ("serve-max-connections", text("N"), "connections of each address (64)")              //
        ("serve-timeout", text("SECONDS"), "longest time of a request (300); 0: no limit")    //
        ("serve-idle-timeout", text("SECONDS"), "longest time without a byte of a client (60)");
    return options;
}

ServeRequest serve_request(const po::variables_map& values) {
    ServeRequest request;
    for (const auto& address : values["serve"].as<std::vector<std::string>>()) {
        request.addresses.push_back(kserve::parse_address(address, "--serve"));
    }
    request.name = model_name(values);
    ServeLimits& limits = request.limits;
    read<std::size_t>(values, "serve-queue", 1, 10000, "1 to 10000", request.queue_size);
    read<std::size_t>(values, "serve-max-bytes", 1024, std::size_t{1} << 40, "1024 to 1099511627776",
                      limits.max_bytes);
    read<int>(values, "serve-max-connections", 1, 10000, "1 to 10000", limits.max_connections);
    read<double>(values, "serve-timeout", 0, longest_seconds, "0 to 1000000", limits.request_seconds);
    read<double>(values, "serve-idle-timeout", 0.1, longest_seconds, "0.1 to 1000000", limits.idle_seconds);
    return request;
}

void require_no_serve_options(const po::variables_map& values) {
    for (const auto* option : {"serve-name", "serve-queue", "serve-max-bytes", "serve-max-connections",
                               "serve-timeout", "serve-idle-timeout"}) {
        if (values.count(option) > 0) {
            reject(option, values[option].as<std::string>(), "an address, --serve ADDRESS");
        }
    }
}

} // namespace spng::app
