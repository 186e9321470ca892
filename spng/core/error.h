#pragma once
// One kind of exception for everything that can go wrong, so that every failure ends in one readable block
// and one exit status (design.md 5: 1 failed while running, 2 wrong use or configuration).

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

/// What a user needs to hint a failure. Only `what` is required; empty lines are left out of the block.
struct ErrorText {
    std::string what = {};     ///< one sentence: what failed
    std::string where = {};    ///< node and key, or file and position
    std::string seen = {};     ///< the offending value
    std::string expected = {}; ///< what would have been right
    std::string hint = {};     ///< what to do about it
};

class Error : public std::exception {
public:
    Error(ErrorKind kind, ErrorText text);

    ErrorKind kind() const noexcept { return m_kind; }
    const ErrorText& text() const noexcept { return m_text; }
    /// 2 for Usage and Configuration, 1 for the rest.
    int exit_status() const noexcept;

    /// Put an outer place before the one already named: "SPNGDecon:induction, event 3" + ", " + old place.
    void add_where(const std::string& outer);

    /// The whole block, several lines, no trailing newline.
    const char* what() const noexcept override { return m_block.c_str(); }

private:
    void compose();
    ErrorKind m_kind;
    ErrorText m_text;
    std::string m_block;
};

/// Throw what was kept of a failure, when there is one; an Error as a copy, since who catches it may add to
/// it.
void rethrow_copy(const std::exception_ptr& failure);

} // namespace spng
