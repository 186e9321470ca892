// SPDX-License-Identifier: Apache-2.0
// Frame files (io/frame_reader.h, io/frame_writer.h) for python/spng/frame_files.py.

#include "python/bindings/bindings.h"
#include "python/bindings/frames.h"

#include "spng/core/error.h"
#include "spng/io/frame_parts.h"
#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "spng/pipeline/output_frame.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

namespace nb = nanobind;

namespace spng::python {
namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

at::ScalarType scalar_type(nb::dlpack::dtype type, const std::string& where) {
    const std::pair<nb::dlpack::dtype, at::ScalarType> known[] = {
        {nb::dtype<bool>(), at::kBool},          {nb::dtype<std::int8_t>(), at::kChar},
        {nb::dtype<std::uint8_t>(), at::kByte},  {nb::dtype<std::int16_t>(), at::kShort},
        {nb::dtype<std::uint16_t>(), at::kUInt16}, {nb::dtype<std::int32_t>(), at::kInt},
        {nb::dtype<std::uint32_t>(), at::kUInt32}, {nb::dtype<std::int64_t>(), at::kLong},
        {nb::dtype<std::uint64_t>(), at::kUInt64}, {nb::dtype<float>(), at::kFloat},
        {nb::dtype<double>(), at::kDouble}};
    for (const auto& [given, wanted] : known) {
        if (type == given) {
            return wanted;
        }
    }
    throw Error(ErrorKind::Input, {.what = "the array has a type that frame files cannot hold",
                                   .where = where,
                                   .seen = "a DLPack type of " + std::to_string(type.bits) + " bits",
                                   .expected = "an integer or floating-point type"});
}

/// Return a tensor that shares memory with the array, which must live longer.
at::Tensor tensor_of(const AnyArray& array, const std::string& where) {
    std::vector<std::int64_t> shape;
    for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
        shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
    }
    return at::from_blob(const_cast<void*>(array.data()), shape, scalar_type(array.dtype(), where));
}

/// The arrays of one tag, as frame_files.py gives them.
struct GivenTraces {
    std::string tag;
    AnyArray samples; ///< of sparse samples the values
    std::optional<AnyArray> runs;
    std::vector<std::int64_t> shape;
    AnyArray channels;
    double start_ns = 0, tick_ns = 0;
    int first_tick = 0;
    std::optional<AnyArray> summary;
};

void require_rows(std::int64_t seen, std::int64_t rows, const char* what, const std::string& where) {
    if (seen != rows) {
        throw Error(ErrorKind::Input, {.what = std::string(what) + " and samples do not fit together",
                                       .where = where,
                                       .seen = std::to_string(seen) + " for " + std::to_string(rows) + " rows",
                                       .expected = "one for each row of (channel, tick)"});
    }
}

TaggedTraces traces_of(const GivenTraces& given, int ident, const std::string& file) {
    const std::string where = file + ", event " + std::to_string(ident) + ", tag '" + given.tag + "'";
    TaggedTraces traces;
    traces.tag = given.tag;
    std::int64_t rows = 0;
    if (given.runs) {
        const SparseParts parts{tensor_of(*given.runs, where), tensor_of(given.samples, where),
                                at::tensor(given.shape)};
        traces.sparse = std::make_shared<const SparseSamples>(sparse_samples_of(parts, where, given.tag, ident));
        rows = traces.sparse->rows;
    } else {
        traces.samples = samples_of(tensor_of(given.samples, where), where);
        rows = traces.samples.size(0);
    }
    traces.channels = channels_of(tensor_of(given.channels, where), where);
    require_rows(static_cast<std::int64_t>(traces.channels.size()), rows, "channel ids", where);
    const TickInfo times = tick_info_of(
        at::tensor({given.start_ns, given.tick_ns, static_cast<double>(given.first_tick)}, at::kDouble), where);
    traces.start_ns = times.start_ns;
    traces.tick_ns = times.tick_ns;
    traces.first_tick = times.first_tick;
    if (given.summary) {
        traces.summary = summary_of(tensor_of(*given.summary, where), where);
        require_rows(traces.summary->numel(), rows, "summary", where);
    }
    return traces;
}

class FrameFileReader {
public:
    FrameFileReader(std::string path, const std::vector<std::string>& tags) : m_path(std::move(path)) {
        const nb::gil_scoped_release no_gil;
        m_reader.emplace(m_path, tags);
    }

    /// Return the next event as dict_of(); None at the end.
    nb::object next() {
        std::optional<Frame> frame;
        {
            const nb::gil_scoped_release no_gil;
            frame = m_reader->next();
            if (!frame && m_events == 0) {
                reject_file_without_events(m_path, m_reader->other_members());
            }
            ++m_events;
        }
        return frame ? nb::object(dict_of(output_frame(std::move(*frame), OutputForm::as_it_is))) : nb::none();
    }

private:
    std::string m_path;
    std::optional<FrameReader> m_reader;
    std::uint64_t m_events = 0;
};

class FrameFileWriter {
public:
    FrameFileWriter(std::string path, std::optional<int> level, bool is_sparse)
        : m_path(std::move(path)), m_writer(m_path, level, is_sparse ? FrameForm::sparse : FrameForm::dense) {}

    void write(int ident, const std::vector<GivenTraces>& traces, const Masks& masks,
               const std::map<std::string, std::string>& notes) {
        const nb::gil_scoped_release no_gil;
        Frame frame;
        frame.ident = ident;
        for (const GivenTraces& each : traces) {
            frame.traces.push_back(traces_of(each, ident, m_path));
        }
        frame.channel_masks = masks_from(masks);
        frame.notes = notes;
        m_writer.write(frame);
    }

    void close() {
        const nb::gil_scoped_release no_gil;
        m_writer.close();
    }

private:
    std::string m_path;
    FrameWriter m_writer;
};

} // namespace

void bind_frame_files(nb::module_& module) {
    nb::class_<GivenTraces>(module, "GivenTraces")
        .def("__init__",
             [](GivenTraces* self, std::string tag, AnyArray samples, std::optional<AnyArray> runs,
                std::vector<std::int64_t> shape, AnyArray channels, double start_ns, double tick_ns,
                int first_tick, std::optional<AnyArray> summary) {
                 new (self) GivenTraces{std::move(tag),   std::move(samples), std::move(runs),
                                        std::move(shape), std::move(channels), start_ns,
                                        tick_ns,          first_tick,         std::move(summary)};
             },
             nb::arg("tag"), nb::arg("samples"), nb::arg("runs").none(), nb::arg("shape"), nb::arg("channels"),
             nb::arg("start_ns"), nb::arg("tick_ns"), nb::arg("first_tick"), nb::arg("summary").none());
    nb::class_<FrameFileReader>(module, "FrameFileReader")
        .def(nb::init<std::string, const std::vector<std::string>&>())
        .def("next", &FrameFileReader::next);
    nb::class_<FrameFileWriter>(module, "FrameFileWriter")
        .def(nb::init<std::string, std::optional<int>, bool>(), nb::arg("path"), nb::arg("level").none(),
             nb::arg("is_sparse"))
        .def("write", &FrameFileWriter::write)
        .def("close", &FrameFileWriter::close);
}

} // namespace spng::python
