// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/bindings.h"

#include "spng/core/error.h"
#include "spng/device/memory/out_of_memory.h"

#include <c10/util/Exception.h>
#include <nanobind/stl/string.h>

#include <new>

namespace nb = nanobind;

namespace spng::python {

namespace {

void raise(const Error& error) {
    const ErrorText& text = error.text();
    try {
        const nb::object instance = nb::module_::import_("spng.errors")
                                        .attr("of_library")(name_of(error.kind()), text.what, text.where,
                                                            text.seen, text.expected, text.hint);
        PyErr_SetObject(instance.type().ptr(), instance.ptr());
    } catch (nb::python_error& meanwhile) { // of a signal handler
        meanwhile.restore();
    }
}

void translate(const std::exception_ptr& failure, void*) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        raise(error);
    } catch (const c10::Error&) {
        raise(current_error());
    } catch (const std::bad_alloc&) {
        raise(current_error());
    }
}

} // namespace

void bind_errors() {
    nb::register_exception_translator(translate);
}

} // namespace spng::python
