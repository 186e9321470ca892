// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/frames.h"

#include "spng/core/error.h"
#include "spng/io/archive/npy_header.h"
#include "spng/io/frame_assembly.h"
#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "spng/io/output_kind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nanobind::literals;

namespace spng::python {

namespace {

/// FrameReader, and what it needs for messages.
struct Reader {
    Reader(const Text& file, std::vector<std::string> tags, std::optional<std::set<int>> idents)
        : path(file.bytes), has_choice(idents.has_value()),
          reader(path, std::move(tags), ordinary_tensor, std::move(idents)) {}

    /// Return the next event as spng.Frame; None at the end of the file.
    /// @throws Error(Input) also for a file without any event, unless events were chosen
    nb::object next() {
        std::optional<Frame> frame;
        {
            const nb::gil_scoped_release released;
            frame = reader.next();
        }
        if (!frame) {
            if (!has_events && !has_choice) {
                reject_file_without_events(path, reader.other_members());
            }
            return nb::none();
        }
        has_events = true;
        return to_python(std::move(*frame));
    }

    std::string path;
    bool has_choice;
    bool has_events = false;
    FrameReader reader;
};

/// FrameWriter, and its path for messages.
struct Writer {
    Writer(const Text& file, std::optional<int> level, bool is_sparse)
        : path(file.bytes),
          writer(std::in_place, path, level, is_sparse ? FrameForm::sparse : FrameForm::dense) {}

    void write(nb::handle event) {
        const Frame frame = to_frame(event, path); // holds Python's arrays: ends with the GIL
        const nb::gil_scoped_release released;
        writer.value().write(frame);
    }

    std::string path;
    std::optional<FrameWriter> writer; ///< nothing once it is discarded
};

/// FrameAssembly for a file that Python reads. Names of members have no ident and no ending: "frame_signal".
struct Assembly {
    Assembly(const Text& file, int ident, std::vector<std::string> tags)
        : where(file.bytes + ", event " + std::to_string(ident) + ", "),
          event(file.bytes, ident, std::move(tags), "") {}

    std::optional<FrameMember> member(const std::string& name) const {
        return name.find('_') == std::string::npos
                   ? std::nullopt
                   : parse_member_name(name + "_" + std::to_string(event.ident()) + ".npy");
    }
    bool wants(const std::string& name) {
        const auto found = member(name);
        return found && event.wants(*found, where + name);
    }
    void add(const std::string& name, nb::handle array) {
        event.add(member(name).value(), to_tensor(array, where + name), where + name);
    }
    nb::object frame() { return to_python(std::move(event).frame()); }

    std::string where;
    FrameAssembly event;
};

} // namespace

void bind_frame_files(nb::module_& module) {
    using Released = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Reader>(module, "FrameReader")
        .def(nb::init<const Text&, std::vector<std::string>, std::optional<std::set<int>>>(), "path"_a,
             "tags"_a, "idents"_a.none(), Released())
        .def("next", &Reader::next);
    nb::class_<Writer>(module, "FrameWriter")
        .def(nb::init<const Text&, std::optional<int>, bool>(), "path"_a, "level"_a.none(), "is_sparse"_a,
             Released()) // blocks until a pipe has a reader
        .def("write", &Writer::write, "frame"_a.none())
        .def(
            "close", [](Writer& self) { self.writer.value().close(); }, Released())
        .def("discard", [](Writer& self) { self.writer.reset(); }, Released());
    nb::class_<Assembly>(module, "FrameAssembly")
        .def(nb::init<const Text&, int, std::vector<std::string>>(), "file"_a, "ident"_a, "tags"_a)
        .def(
            "is_member",
            [](const Assembly& self, const std::string& name) { return self.member(name).has_value(); },
            "name"_a)
        .def("wants", &Assembly::wants, "name"_a)
        .def("add", &Assembly::add, "name"_a, "array"_a)
        .def("frame", &Assembly::frame);
    module.def(
        "is_archive_of_events",
        [](const Text& path) {
            try {
                require_own_kind(path.bytes, OutputKind::arrays, "");
            } catch (const Error&) {
                return false;
            }
            return true;
        },
        "path"_a);
    module.attr("LARGEST_ARRAY_BYTES") = largest_array_bytes;
    module.def(
        "checked",
        [](nb::handle frame, const Text& where) { return to_python(to_frame(frame, where.bytes)); },
        "frame"_a.none(), "where"_a);
}

} // namespace spng::python
