// SPDX-License-Identifier: Apache-2.0
#pragma once
// A target: a reader of the program that gets any bytes and must end with a result or a spng::Error.

#include "spng/core/error.h"
#include "tests/fuzz/driver/random.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spng::fuzz {

/// Thrown for an input that the reader treats wrongly without a crash.
class Defect : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The results of an input: "ok", or errors without what they repeat of the input. A new one makes the input a seed.
class Results {
public:
    void add(const std::string& result);
    /// @throws Defect for an error that lacks a field, has unprintable characters, or reports a defect of the program
    void add(const Error& error);

    const std::set<std::string>& all() const { return m_all; }

private:
    std::set<std::string> m_all;
};

struct Input {
    std::filesystem::path file; ///< holds the bytes
    const std::string& bytes;
};

struct Target {
    const char* name;
    /// Name of the input file: some readers choose the format by the ending.
    const char* file_name;
    /// Run the reader. An exception of it, but for Error, is a failure.
    void (*run)(const Input& input, Results& results);
    /// Return a damaged input behind the checksums of the format: unpack a seed, change it, pack it.
    std::string (*mutate)(const std::vector<std::string>& seeds, Random& random);
    /// Return the bytes that the reader may allocate at a time.
    std::int64_t (*allowed_bytes)(const std::string& bytes);
    /// Words of the format, which mutations insert.
    std::span<const std::string_view> words = {};
    long processor_seconds = 2; ///< that an input may take
};

/// Return the targets of the program's readers, in the order of their names.
std::span<const Target> targets();

/// Return a target, also the one with defects that tests the driver.
/// @throws std::invalid_argument for an unknown name
const Target& target_named(const std::string& name);

} // namespace spng::fuzz
