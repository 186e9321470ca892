// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events as spng::Frame and as Python's spng.Frame (python/spng/frame.py). Samples share their memory. Call all
// functions with the GIL.

#include "WireCellSpng/Pipeline.h"
#include "spng/io/frame.h"

#include <nanobind/nanobind.h>

#include <string>

namespace spng::python {

/// Return an event as spng.Frame. Samples on a CUDA device are DLPack capsules, to be used once.
nanobind::object to_python(const OutputFrame& frame);

/// The same for an event of a file.
nanobind::object to_python(Frame frame);

/// Check an event and return it as FrameReader does: samples that are neither int16 nor float32 are converted.
/// @param frame  spng.Frame
/// @param where  path of the file or name of the caller, for the message
/// @throws Error(Input) naming event, tag and the offending value
Frame to_frame(nanobind::handle frame, const std::string& where);

} // namespace spng::python
