// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/arrays.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"

#include <ATen/DLConvertor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <vector>

namespace nb = nanobind;

namespace spng::python {

namespace {

using HostArray = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

/// Return an array, or a tensor of Python's torch, in C order and with the byte order of this machine.
/// @throws spng.Error for masked elements
nb::object in_native_order(nb::handle array, const std::string& where) {
    if (nb::hasattr(array, "detach")) { // only torch has it
        return array.attr("detach")().attr("contiguous")();
    }
    nb::module_::import_("spng.conversion").attr("require_whole_array")(array, printable(where));
    const nb::object result = nb::module_::import_("numpy").attr("ascontiguousarray")(array);
    const nb::object type = result.attr("dtype");
    return nb::cast<bool>(type.attr("isnative")) ? result
                                                 : result.attr("astype")(type.attr("newbyteorder")("="));
}

/// Return what nanobind takes without running code of Python, where it would drop what a signal handler raises: for a
/// tensor its DLPack capsule, or None if it has none.
nb::object exported(const nb::object& array) {
    if (!nb::hasattr(array, "detach")) {
        return array;
    }
    try {
        return array.attr("__dlpack__")();
    } catch (const nb::python_error& error) {
        if (error.matches(PyExc_BufferError) || error.matches(PyExc_TypeError) ||
            error.matches(PyExc_RuntimeError) || error.matches(PyExc_ValueError)) {
            return nb::none();
        }
        throw;
    }
}

/// Return "int16 on cpu".
std::string summary_of(nb::handle array) {
    const auto text = [&](const char* name) {
        return nb::cast<std::string>(nb::str(nb::getattr(array, name, nb::str("cpu"))));
    };
    return text("dtype") + " on " + text("device");
}

} // namespace

nb::object to_numpy(const at::Tensor& tensor) {
    auto* const owner = new at::Tensor(tensor.contiguous());
    const at::Tensor& kept = *owner;
    const std::vector<std::size_t> shape(kept.sizes().begin(), kept.sizes().end());
    const auto type = std::bit_cast<nb::dlpack::dtype>(at::getDLDataType(kept));
    const nb::capsule capsule(owner,
                              [](void* pointer) noexcept { delete static_cast<at::Tensor*>(pointer); });
    return nb::cast(
        nb::ndarray<nb::numpy>(kept.data_ptr(), shape.size(), shape.data(), capsule, nullptr, type));
}

at::Tensor to_tensor(nb::handle array, const std::string& where) {
    const nb::object ordered = in_native_order(array, where);
    const auto reject = [&] {
        throw Error(ErrorKind::Input,
                    {.what = "this cannot be taken as numbers",
                     .where = where,
                     .seen = summary_of(ordered),
                     .expected = "integers or floats in the host's memory: array, tensor.cpu()"});
    };
    HostArray view;
    if (!nb::try_cast(exported(ordered), view, /*convert=*/false)) {
        reject();
    }
    at::ScalarType type{};
    try {
        type = at::toScalarType(std::bit_cast<DLDataType>(view.dtype()));
    } catch (const c10::Error&) {
        reject();
    }
    if (at::isComplexType(type)) {
        reject();
    }
    const std::vector<std::int64_t> shape(view.shape_ptr(), view.shape_ptr() + view.ndim());
    if (view.size() == 0) {
        return at::empty(shape, type);
    }
    auto* kept = new HostArray(view);
    return at::from_blob(
        const_cast<void*>(view.data()), shape,
        [kept](void*) {
            const nb::gil_scoped_acquire gil; // the last tensor may end on any thread
            delete kept;
        },
        type);
}

} // namespace spng::python
