// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/archive_handle.h"

#include <archive.h>

#include <cerrno>

namespace spng {

void ReadFree::operator()(archive* handle) const {
    archive_read_free(handle);
}

void WriteFree::operator()(archive* handle) const {
    archive_write_free(handle);
}

std::string error_text(archive* handle) {
    const char* text = archive_error_string(handle);
    return text != nullptr ? text : "unknown error";
}

Utf8Names::Utf8Names() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr); // null where there is none
    m_before = uselocale(utf8); // of this thread only; null changes nothing
}

Utf8Names::~Utf8Names() {
    uselocale(m_before);
}

int StreamCallbacks::open(archive* handle) {
    archive_read_set_callback_data(handle, this);
    archive_read_set_read_callback(handle, &StreamCallbacks::read);
    if (m_stream->seekable()) {
        archive_read_set_seek_callback(handle, &StreamCallbacks::seek);
    }
    return archive_read_open1(handle);
}

void StreamCallbacks::rethrow() const {
    if (m_failure) {
        std::rethrow_exception(m_failure);
    }
}

la_ssize_t StreamCallbacks::read(archive* handle, void* self, const void** block) {
    auto& callbacks = *static_cast<StreamCallbacks*>(self);
    try {
        const auto bytes = callbacks.m_stream->next_block();
        *block = bytes.data();
        return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
        callbacks.m_failure = std::current_exception();
        archive_set_error(handle, EIO, "reading failed");
        return ARCHIVE_FATAL;
    }
}

la_int64_t StreamCallbacks::seek(archive*, void* self, la_int64_t offset, int whence) {
    const auto position = static_cast<StreamCallbacks*>(self)->m_stream->seek(offset, whence);
    return position < 0 ? ARCHIVE_FATAL : position;
}

} // namespace spng
