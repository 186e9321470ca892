// SPDX-License-Identifier: Apache-2.0
#pragma once
// NumPy arrays and tensors that share their memory. Call all functions with the GIL.

#include <nanobind/nanobind.h>

#include <ATen/core/Tensor.h>

#include <string>

namespace spng::python {

/// Return a NumPy array of the tensor's memory, which lives as long as the array. A tensor that is not C contiguous is
/// copied.
/// @param tensor  on the host, of any type that NumPy has
nanobind::object to_numpy(const at::Tensor& tensor);

/// Return a tensor of the array's memory; the array lives as long as the tensor. An array that is not C contiguous or
/// has foreign byte order, and a list, are copied. The tensor must not be written to.
/// @param array  a NumPy array, a tensor of Python's torch on the host, or whatever numpy.asarray() takes
/// @param where  position of the array, for the message
/// @throws Error(Input) for anything else, such as text, or a tensor on a GPU
at::Tensor to_tensor(nanobind::handle array, const std::string& where);

} // namespace spng::python
