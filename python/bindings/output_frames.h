// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames between C++ and Python: dictionaries of NumPy arrays that share memory with tensors.

#include "WireCellSpng/Pipeline.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace spng::python {

/// Samples (channel, tick) of NumPy or torch.
using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::ndim<2>>;

/// Channel masks by name: (channel, begin tick, end tick).
using Masks = std::map<std::string, std::vector<std::tuple<int, std::int64_t, std::int64_t>>>;

/// Keep a Python object for as long as the result lives. It may be released on any thread.
template <class Object>
std::shared_ptr<const void> owner_of(Object object) {
    return {new Object(std::move(object)), [](Object* kept) {
                if (Py_IsInitialized() != 0) {
                    const nanobind::gil_scoped_acquire gil;
                    delete kept;
                }
            }};
}

SampleType type_of(const Array& samples);

ChannelMasks masks_from(const Masks& given);

/// Return {"ident", "traces": [{"tag", "samples", "shape", "runs", "channels", ...}], "masks", "notes", ...}.
nanobind::dict dict_of(const OutputFrame& frame);

} // namespace spng::python
