// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one exception type of the program: every failure ends in one readable block and one exit status. Status
// 1: failed while running; status 2: usage error or wrong configuration.

#include <exception>
#include <string>

namespace spng {

enum class ErrorKind {
    Usage,         ///< wrong command line                           exit 2
    Configuration, ///< wrong configuration, graph or static input   exit 2
    Input,         ///< an event file or its content is unusable     exit 1
    Output,        ///< writing failed (disk full, permissions)      exit 1
    Device,        ///< no such device, device memory exhausted      exit 1
    Model,         ///< a network file is missing, broken or unfit   exit 1
    Internal       ///< a defect of this program                     exit 1
};

/// Return the name of a kind, as Python and the answers of --files give it.
const char* name_of(ErrorKind kind);

/// Everything a user needs to fix a failure. Only `what` is required; the block leaves out empty lines.
struct ErrorText {
    std::string what = {};     ///< one sentence: what failed
    std::string where = {};    ///< node and key, or file and position
    std::string seen = {};     ///< the offending value
    std::string expected = {}; ///< a valid value
    std::string hint = {};     ///< how to fix it
};

class Error : public std::exception {
public:
    Error(ErrorKind kind, ErrorText text);

    ErrorKind kind() const noexcept { return m_kind; }
    /// The fields are printable().
    const ErrorText& text() const noexcept { return m_text; }
    /// Return 2 for Usage and Configuration, 1 for the rest.
    int exit_status() const noexcept;

    /// Put an outer location before the present one: "SPNGDecon:induction, event 3" + ", " + `where`.
    void add_where(const std::string& outer);

    /// Return the whole block: several lines, no trailing newline. Long fields are shortened().
    const char* what() const noexcept override { return m_block.c_str(); }

private:
    void compose();
    ErrorKind m_kind;
    ErrorText m_text;
    std::string m_block;
};

/// Rethrow a stored exception; do nothing if `failure` is null. An Error is thrown as a copy, since the
/// catcher may call add_where().
void rethrow_copy(const std::exception_ptr& failure);

} // namespace spng
