// SPDX-License-Identifier: Apache-2.0
#include "spng/core/error.h"

#include "spng/core/printable.h"

#include <utility>

namespace spng {

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
    constexpr std::size_t max_bytes = 4000; // of one line
    m_block = "error: " + shortened(m_text.what, max_bytes);
    const auto line = [this](const char* label, const std::string& value) {
        if (!value.empty()) {
            m_block += std::string("\n  ") + label + shortened(value, max_bytes);
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
