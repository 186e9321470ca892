// SPDX-License-Identifier: Apache-2.0
#include "spng/pipeline/job_owner.h"

#include "spng/core/error.h"

#include <unistd.h>

#include <string>

namespace spng {
namespace {

thread_local int callbacks = 0; ///< that run on this thread, one inside of the other

} // namespace

InCallback::InCallback() {
    ++callbacks;
}

InCallback::~InCallback() {
    --callbacks;
}

bool InCallback::is_active() {
    return callbacks > 0;
}

MakingProcess::MakingProcess(const char* object) : m_object(object), m_process(::getpid()) {}

bool MakingProcess::is_other() const {
    return m_process != ::getpid();
}

void MakingProcess::require() const {
    if (is_other()) {
        throw Error(
            ErrorKind::Usage,
            {.what = std::string(m_object) + " was made in another process",
             .seen = "a call in process " + std::to_string(::getpid()) + ", made in process " +
                     std::to_string(m_process),
             .expected = "calls in the process that made it: a child of fork() has none of its threads",
             .hint = "make it in the child, or start children with the method spawn"});
    }
}

void MakingProcess::require_no_callback() const {
    if (InCallback::is_active()) {
        throw Error(ErrorKind::Usage,
                    {.what = std::string("a callback waits for ") + m_object,
                     .seen = "a call by a handler of log lines, or while an input is released",
                     .expected = "calls from other code: the chain waits until the callback has returned",
                     .hint = "put the line into a queue, and act on it in another thread"});
    }
}

} // namespace spng
