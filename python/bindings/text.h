// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace spng::python {

/// A text of Python that may be, or may contain, a path: any bytes, as os.fsencode() returns them. Callers convert paths
/// with os.fsdecode() first: os.fspath() runs code of Python, and nanobind drops what a signal handler raises there.
struct Text {
    std::string bytes;
};

} // namespace spng::python

/// Takes str without NUL.
template <>
struct nanobind::detail::type_caster<spng::python::Text> {
    NB_TYPE_CASTER(spng::python::Text, const_name("str"))

    bool from_python(handle source, std::uint32_t /*flags*/, cleanup_list* /*unused*/) noexcept {
        PyObject* bytes = nullptr;
        if (!PyUnicode_Check(source.ptr()) || PyUnicode_FSConverter(source.ptr(), &bytes) == 0) {
            PyErr_Clear();
            return false;
        }
        value.bytes.assign(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
        Py_DECREF(bytes);
        return true;
    }
};
