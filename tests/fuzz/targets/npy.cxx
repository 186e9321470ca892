// SPDX-License-Identifier: Apache-2.0
// A single array, in members with and without a declared size. The reader allocates at most twice what it declares.

#include "spng/io/archive/npy_header.h"
#include "spng/io/archive/npy_reader.h"
#include "tests/fuzz/mutate/arrays.h"
#include "tests/fuzz/targets/targets.h"

#include <algorithm>
#include <cstring>

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {
    "'descr': ", "'fortran_order': True", "'shape': (", "1000000000000", ", ", "L", "<i2", ">f8", "|O"};

class Bytes final : public ByteSource {
public:
    Bytes(const std::string& bytes, bool declares) : m_bytes(bytes), m_declares(declares) {}
    std::size_t read(void* to, std::size_t bytes) override {
        const std::size_t count = std::min(bytes, m_bytes.size() - m_at);
        std::memcpy(to, m_bytes.data() + m_at, count);
        m_at += count;
        return count;
    }
    std::optional<std::uint64_t> declared_bytes() const override {
        return m_declares ? std::optional<std::uint64_t>(m_bytes.size()) : std::nullopt;
    }
    std::string where() const override { return "a member"; }

private:
    const std::string& m_bytes;
    bool m_declares;
    std::size_t m_at = 0;
};

void run(const Input& input, Results& results) {
    for (const bool declares : {false, true}) {
        try {
            Bytes bytes(input.bytes, declares);
            NpyReader reader;
            const at::Tensor array = reader.read(bytes);
            results.add("array of " + std::to_string(array.dim()) + " axes");
        } catch (const Error& error) {
            results.add(error);
        }
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_array(random.pick(seeds), random);
}

std::int64_t allowed_bytes(const std::string& bytes) {
    std::int64_t declared = 0;
    try {
        Bytes source(bytes, false);
        declared = static_cast<std::int64_t>(read_npy_header(source).data_bytes());
    } catch (const Error&) {
        declared = 0; // an array that is rejected declares nothing
    }
    return 2 * declared + (std::int64_t{1} << 20);
}

} // namespace

Target npy_target() {
    return {"npy", "input.npy", &run, &mutate, &allowed_bytes, words};
}

} // namespace spng::fuzz
