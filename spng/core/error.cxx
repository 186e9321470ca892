// SPDX-License-Identifier: Apache-2.0
#include "spng/core/error.h"

#include "spng/core/printable.h"

#include <utility>

namespace spng {
namespace {

/// Return a part of a block: not too long, and no line of it, as of a name with newlines, begins as those of the block.
std::string part(const std::string& text) {
    constexpr std::size_t max_bytes = 4000;
    const std::string indent(12, ' ');
    std::string result = shortened(text, max_bytes);
    for (auto at = result.find('\n'); at != std::string::npos; at = result.find('\n', at + 1)) {
        if (result.compare(at + 1, indent.size(), indent) != 0) {
            result.insert(at + 1, indent);
        }
    }
    return result;
}

} // namespace

const char* name_of(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::Usage:
        return "Usage";
    case ErrorKind::Configuration:
        return "Configuration";
    case ErrorKind::Input:
        return "Input";
    case ErrorKind::Output:
        return "Output";
    case ErrorKind::Device:
        return "Device";
    case ErrorKind::Model:
        return "Model";
    case ErrorKind::Internal:
        break;
    }
    return "Internal";
}

Error::Error(ErrorKind kind, ErrorText text) : m_kind(kind), m_text(std::move(text)) {
    for (std::string* field : {&m_text.what, &m_text.where, &m_text.seen, &m_text.expected, &m_text.hint}) {
        *field = printable(*field);
    }
    compose();
}

int Error::exit_status() const noexcept {
    return m_kind == ErrorKind::Usage || m_kind == ErrorKind::Configuration ? 2 : 1;
}

void Error::add_where(const std::string& outer) {
    m_text.where = printable(outer) + (m_text.where.empty() ? "" : ", " + m_text.where);
    compose();
}

void Error::compose() {
    m_block = "error: " + part(m_text.what);
    const auto line = [this](const char* label, const std::string& value) {
        if (!value.empty()) {
            m_block += std::string("\n  ") + label + part(value);
        }
    };
    line("where:    ", m_text.where);
    line("seen:     ", m_text.seen);
    line("expected: ", m_text.expected);
    line("hint:     ", m_text.hint);
}

void rethrow_copy(const std::exception_ptr& failure) {
    if (failure) {
        try {
            std::rethrow_exception(failure);
        } catch (const Error& error) {
            throw Error(error);
        }
    }
}

} // namespace spng
