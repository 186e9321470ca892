// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranges and marks for Nsight Systems and every other NVTX tool.
//
//   NVTX_SCOPED_RANGE("Decon::inverse_transform");        until the end of the scope
//   NVTX_RANGE("Decon::multiply", spng::nvtx::Kind::Decon); the same with the category and colour of a kind
//   NVTX_RANGE("Decon::multiply", NVTX_COLOR::Orange);      the same with a colour: a name, or 0xAARRGGBB
//   NVTX_RANGE("Decon::multiply", 0xFF4E79A7, row_count);   ... and a payload: integer or floating point
//   NVTX_FUNCTION_RANGE();                                named after the function: "Decon::operator()"
//   NVTX_RANGE_PUSH("Decon::multiply"); NVTX_RANGE_POP();   where no scope fits; must balance on each thread
//   auto upload = NVTX_RANGE_START("Upload", event);      asynchronous work: may end on another thread and
//   NVTX_RANGE_END(upload);                               need not nest; the payload may be left out
//   NVTX_MARK("TorchService::model_loaded");              one point in time; NVTX_MARKER is its older name
//   NVTX_IO_RANGE("FrameReader::next");                   domain spng.io: files are read and written
//   NVTX_SCHEDULING_RANGE("TbbFlow::feed", event);        domain spng.sched: what engines do between node
//   NVTX_SCHEDULING_MARK("TbbFlow::end_of_stream");       calls; all payloads may be left out
//
// Write names as string literals, `Type::step`: they are registered once per call site, and a range costs a few
// nanoseconds when no tool listens. A name known only at run time, a std::string or a C string, is passed as text
// at each call; node_range.h and torch_ranges.h register such names. All go to the domain "spng" where no other
// is named. They only call NVTX, never CUDA, so they may be used inside a CUDA graph capture; Kind::Capture and
// Kind::Replay are for the ranges around a capture and around the launch of the graph.
//
// How much is annotated is a level, first that of the variable SPNG_NVTX_LEVEL: 0 nothing, 1 node calls and
// events, 2 also steps and files (the default), 3 also scheduling, 4 also every operator of ATen. A range
// that has begun always ends, whatever the level has become.
//
// On where SPNG_NVTX (or HAVE_NVTX, the field's older name) is defined non-zero. Otherwise nothing is
// compiled in: no symbol, no string, no evaluation of an argument. The header then includes nothing at all,
// and only checks that names are not empty. It needs C++17.

#if __cplusplus < 202002L
#pragma GCC system_header // before C++20, -pedantic rejects variadic macros without variadic arguments
#endif

#if (defined(SPNG_NVTX) && (SPNG_NVTX + 0)) || (defined(HAVE_NVTX) && (HAVE_NVTX + 0))
#define SPNG_NVTX_IS_ON 1
#else
#define SPNG_NVTX_IS_ON 0
#endif

namespace spng {

/// Names of common colours, 0xAARRGGBB, those of CSS. profiling/wirecell_profile/palette.py repeats them, and a test
/// compares the two.
struct Colour {
    static constexpr unsigned Black = 0xFF000000;
    static constexpr unsigned Blue = 0xFF0000FF;
    static constexpr unsigned Brown = 0xFFA52A2A;
    static constexpr unsigned Cyan = 0xFF00FFFF;
    static constexpr unsigned Green = 0xFF008000;
    static constexpr unsigned Grey = 0xFF808080;
    static constexpr unsigned Magenta = 0xFFFF00FF;
    static constexpr unsigned Orange = 0xFFFFA500;
    static constexpr unsigned Pink = 0xFFFFC0CB;
    static constexpr unsigned Purple = 0xFF800080;
    static constexpr unsigned Red = 0xFFFF0000;
    static constexpr unsigned White = 0xFFFFFFFF;
    static constexpr unsigned Yellow = 0xFFFFFF00;
};

} // namespace spng

#define NVTX_COLOR ::spng::Colour

#if SPNG_NVTX_IS_ON

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include <nvtx3/nvtx3.hpp>

namespace spng::nvtx {

/// Node calls and their steps.
struct Domain {
    static constexpr char const* name{"spng"};
};
/// Engines: events on their way, waiting, handing over.
struct SchedulingDomain {
    static constexpr char const* name{"spng.sched"};
};
struct IoDomain {
    static constexpr char const* name{"spng.io"};
};
/// Operators of ATen, also those that run on behalf of a model.
struct TorchDomain {
    static constexpr char const* name{"spng.torch"};
};

/// How much is annotated; each level holds those before it.
enum class Level : int { Off = 0, Nodes = 1, Steps = 2, Scheduling = 3, Torch = 4 };

/// Return the level of the variable SPNG_NVTX_LEVEL; Steps if it is unset or not a level.
inline Level level_of_environment() noexcept {
    char const* const text = std::getenv("SPNG_NVTX_LEVEL");
    bool const is_level = text != nullptr && text[0] >= '0' && text[0] <= '4' && text[1] == '\0';
    return is_level ? static_cast<Level>(text[0] - '0') : Level::Steps;
}

/// The level of the whole process.
inline std::atomic<Level> level_in_force{level_of_environment()};

inline bool is_on(Level level) noexcept {
    return level_in_force.load(std::memory_order_relaxed) >= level;
}

/// Set the level only. instrument/nvtx_level.h also checks the user's value and starts the ranges of operators.
inline void set_level(Level level) noexcept {
    level_in_force.store(level, std::memory_order_relaxed);
}

/// The subject of a range: its NVTX category and, through `palette`, its colour. A node's kind is the folder of
/// its step; Step is any other range inside a node.
enum class Kind : std::uint32_t {
    Other = 1, // NVTX reserves category 0 for "none"
    Step,
    Source,
    Sink,
    Plumbing,
    Frame,
    Decon,
    Filter,
    Roi,
    Coincidence,
    Dnn,
    Service,
    Tap,
    Simulation,
    Noise,
    Event,
    Scheduling,
    Io,
    Torch,
    Capture,
    Replay
};

struct KindColour {
    char const* category;
    std::uint32_t argb;
};

/// THE palette, in the order of Kind; profiling/wirecell_profile/palette.py repeats it, and a test compares
/// them. Hues go along the chain: data movement grey and brown, Fourier space blue, regions of interest warm,
/// networks violet, simulation green; what lies around node calls is dark, captured graphs are yellow.
inline constexpr std::array<KindColour, 21> palette{{
    {"other", 0xFF9E9E9E},       // grey
    {"step", 0xFFC7C7C7},        // light grey
    {"source", 0xFF8C6D31},      // brown
    {"sink", 0xFFBD9E39},        // ochre
    {"plumbing", 0xFF7F7F7F},    // dark grey
    {"frame", 0xFFE7CB94},       // sand
    {"decon", 0xFF1F4E9C},       // dark blue
    {"filter", 0xFF4EA3D9},      // sky blue
    {"roi", 0xFFF28E2B},         // orange
    {"coincidence", 0xFFD62728}, // red
    {"dnn", 0xFF8E44AD},         // violet
    {"service", 0xFFC39BD3},     // light violet
    {"tap", 0xFF17A589},         // teal
    {"sim", 0xFF2E8B57},         // green
    {"noise", 0xFF98C379},       // light green
    {"event", 0xFF34495E},       // slate
    {"scheduling", 0xFF5D6D7E},  // light slate
    {"io", 0xFF6E4B2A},          // dark brown
    {"torch", 0xFFE377C2},       // pink
    {"capture", 0xFFF1C40F},     // yellow
    {"replay", 0xFFF7DC6F},      // light yellow
}};

constexpr KindColour const& colour_of(Kind kind) noexcept {
    return palette[static_cast<std::size_t>(kind) - 1];
}

/// Return the kind whose category has this name, or Other.
constexpr Kind kind_of(std::string_view name) noexcept {
    for (std::size_t index = 0; index < palette.size(); ++index) {
        if (name == palette[index].category) {
            return static_cast<Kind>(index + 1);
        }
    }
    return Kind::Other;
}

/// The category of a kind. The first call in a domain names all of them, so that tools show the whole legend.
template <class InDomain>
nvtx3::category category_of(Kind kind) noexcept {
    static bool const named = [] {
        for (std::size_t index = 0; index < palette.size(); ++index) {
            nvtxDomainNameCategoryA(nvtx3::domain::get<InDomain>(), static_cast<std::uint32_t>(index + 1),
                                    palette[index].category);
        }
        return true;
    }();
    static_cast<void>(named);
    return nvtx3::category{static_cast<std::uint32_t>(kind)};
}

/// "Type::step" out of g++'s or clang's spelling of a whole signature, such as
/// "at::Tensor spng::Decon::operator()(const at::Tensor&) const" -> "Decon::operator()".
constexpr std::string_view function_name(std::string_view signature) noexcept {
    constexpr std::string_view call_operator = "operator()";
    std::size_t end = signature.find(call_operator);
    end = end == std::string_view::npos ? signature.find('(') : end + call_operator.size();
    std::string_view name = signature.substr(0, end);
    int depth = 0; // of template arguments, which may hold spaces
    for (std::size_t index = name.size(); index-- > 0;) {
        char const letter = name[index];
        depth += letter == '>' ? 1 : letter == '<' ? -1 : 0;
        if (depth == 0 && (letter == ' ' || letter == '*' || letter == '&')) {
            name.remove_prefix(index + 1);
            break;
        }
    }
    for (std::string_view scope : {std::string_view{"spng::"}, std::string_view{"{anonymous}::"}}) {
        if (name.substr(0, scope.size()) == scope) {
            name.remove_prefix(scope.size());
        }
    }
    return name;
}

/// Name, category and colour, prepared once: one static object per call site, or one member per node.
template <class InDomain>
class LabelIn {
public:
    LabelIn(char const* name, Kind kind) noexcept : LabelIn(name, kind, colour_of(kind).argb) {}
    LabelIn(char const* name, std::uint32_t argb) noexcept : LabelIn(name, Kind::Step, argb) {}

    nvtx3::event_attributes const& attributes() const noexcept { return m_attributes; }

    template <class Payload>
    nvtx3::event_attributes attributes(Payload payload) const noexcept {
        return nvtx3::event_attributes{nvtx3::payload{payload}, m_name, m_category, m_colour};
    }

private:
    LabelIn(char const* name, Kind kind, std::uint32_t argb) noexcept
        : m_name{name}, m_category{category_of<InDomain>(kind)}, m_colour{argb},
          m_attributes{m_name, m_category, m_colour} {}

    nvtx3::registered_string_in<InDomain> m_name;
    nvtx3::category m_category;
    nvtx3::color m_colour;
    nvtx3::event_attributes m_attributes;
};

/// Name, category and colour of one call, for a name known only at run time. The text must outlive the object.
template <class InDomain>
class TextLabelIn {
public:
    TextLabelIn(char const* name, Kind kind) noexcept : TextLabelIn(name, kind, colour_of(kind).argb) {}
    TextLabelIn(std::string const& name, Kind kind) noexcept : TextLabelIn(name.c_str(), kind) {}
    TextLabelIn(char const* name, std::uint32_t argb) noexcept : TextLabelIn(name, Kind::Step, argb) {}
    TextLabelIn(std::string const& name, std::uint32_t argb) noexcept : TextLabelIn(name.c_str(), argb) {}

    /// @param payload  one number, or nothing
    template <class... Payload>
    nvtx3::event_attributes attributes(Payload... payload) const noexcept {
        return nvtx3::event_attributes{nvtx3::payload{payload}..., nvtx3::message{m_name},
                                       category_of<InDomain>(m_kind), nvtx3::color{m_argb}};
    }

private:
    TextLabelIn(char const* name, Kind kind, std::uint32_t argb) noexcept
        : m_name(name), m_kind(kind), m_argb(argb) {}

    char const* m_name;
    Kind m_kind;
    std::uint32_t m_argb;
};

/// A range from its construction to the end of the scope; neither copied nor moved, so it ends once.
template <class InDomain>
class ScopedRangeIn {
public:
    /// No range: the level is too low for it.
    ScopedRangeIn() noexcept = default;
    explicit ScopedRangeIn(nvtx3::event_attributes const& attributes) noexcept : m_has_begun{true} {
        nvtxDomainRangePushEx(nvtx3::domain::get<InDomain>(), attributes.get());
    }
    ~ScopedRangeIn() {
        if (m_has_begun) {
            nvtxDomainRangePop(nvtx3::domain::get<InDomain>());
        }
    }
    ScopedRangeIn(ScopedRangeIn const&) = delete;
    ScopedRangeIn& operator=(ScopedRangeIn const&) = delete;

private:
    bool const m_has_begun = false;
};

/// Number of this thread's open pushes that the level suppressed. A push inside a suppressed one is suppressed too,
/// so that pops match pushes when the level changes between them.
inline thread_local unsigned suppressed_pushes = 0;

inline void push(nvtx3::event_attributes const& attributes) noexcept {
    if (suppressed_pushes > 0 || !is_on(Level::Steps)) {
        ++suppressed_pushes;
    } else {
        nvtxDomainRangePushEx(nvtx3::domain::get<Domain>(), attributes.get());
    }
}

inline void pop() noexcept {
    if (suppressed_pushes > 0) {
        --suppressed_pushes;
    } else {
        nvtxDomainRangePop(nvtx3::domain::get<Domain>());
    }
}

/// Begin a range that end() ends.
/// @return the range's id; 0 if no tool listens
template <class InDomain>
std::uint64_t start(nvtx3::event_attributes const& attributes) noexcept {
    return nvtxDomainRangeStartEx(nvtx3::domain::get<InDomain>(), attributes.get());
}

template <class InDomain>
void end(std::uint64_t range) noexcept {
    if (range != 0) {
        nvtxDomainRangeEnd(nvtx3::domain::get<InDomain>(), range);
    }
}

} // namespace spng::nvtx

#define SPNG_NVTX_JOIN_TOKENS(left, right) left##right
#define SPNG_NVTX_JOIN(left, right) SPNG_NVTX_JOIN_TOKENS(left, right)

// The immediately called lambda gives each call site its own static label inside one expression. A literal is an
// array of characters whose source text begins with a quotation mark.
#define SPNG_NVTX_LABEL(domain, name, kind_or_argb)                                                          \
    ([](auto const& spng_nvtx_name) noexcept -> decltype(auto) {                                             \
        if constexpr (#name[0] == '"' &&                                                                     \
                      ::std::is_array_v<::std::remove_reference_t<decltype(spng_nvtx_name)>>) {              \
            static ::spng::nvtx::LabelIn<domain> const spng_nvtx_label{spng_nvtx_name, kind_or_argb};        \
            return (spng_nvtx_label);                                                                        \
        } else {                                                                                             \
            return ::spng::nvtx::TextLabelIn<domain>{spng_nvtx_name, kind_or_argb};                          \
        }                                                                                                    \
    }(name))
#define SPNG_NVTX_FUNCTION_LABEL(signature)                                                                  \
    ([](char const* spng_nvtx_signature) noexcept -> ::spng::nvtx::LabelIn<::spng::nvtx::Domain> const& {    \
        static ::spng::nvtx::LabelIn<::spng::nvtx::Domain> const spng_nvtx_label{                            \
            ::std::string{::spng::nvtx::function_name(spng_nvtx_signature)}.c_str(),                         \
            ::spng::nvtx::Kind::Step};                                                                       \
        return spng_nvtx_label;                                                                              \
    }(signature))
#define SPNG_NVTX_SCOPE(domain, level, given_attributes)                                                     \
    ::spng::nvtx::ScopedRangeIn<domain> const SPNG_NVTX_JOIN(spng_nvtx_range_, __COUNTER__) =                \
        ::spng::nvtx::is_on(level) ? ::spng::nvtx::ScopedRangeIn<domain>{given_attributes}                   \
                                   : ::spng::nvtx::ScopedRangeIn<domain> {}
#define SPNG_NVTX_MARK(domain, level, name, kind)                                                            \
    static_cast<void>(::spng::nvtx::is_on(level) &&                                                          \
                      (::nvtx3::mark_in<domain>(SPNG_NVTX_LABEL(domain, name, kind).attributes()), true))

#define NVTX_RANGE(name, kind_or_argb, ...)                                                                  \
    SPNG_NVTX_SCOPE(::spng::nvtx::Domain, ::spng::nvtx::Level::Steps,                                        \
                    SPNG_NVTX_LABEL(::spng::nvtx::Domain, name, kind_or_argb).attributes(__VA_ARGS__))
#define NVTX_SCOPED_RANGE(name)                                                                              \
    SPNG_NVTX_SCOPE(::spng::nvtx::Domain, ::spng::nvtx::Level::Steps,                                        \
                    SPNG_NVTX_LABEL(::spng::nvtx::Domain, name, ::spng::nvtx::Kind::Step).attributes())
#define NVTX_FUNCTION_RANGE()                                                                                \
    SPNG_NVTX_SCOPE(::spng::nvtx::Domain, ::spng::nvtx::Level::Steps,                                        \
                    SPNG_NVTX_FUNCTION_LABEL(__PRETTY_FUNCTION__).attributes())
#define NVTX_IO_RANGE(name, ...)                                                                             \
    SPNG_NVTX_SCOPE(                                                                                         \
        ::spng::nvtx::IoDomain, ::spng::nvtx::Level::Steps,                                                  \
        SPNG_NVTX_LABEL(::spng::nvtx::IoDomain, name, ::spng::nvtx::Kind::Io).attributes(__VA_ARGS__))
#define NVTX_SCHEDULING_RANGE(name, ...)                                                                     \
    SPNG_NVTX_SCOPE(::spng::nvtx::SchedulingDomain, ::spng::nvtx::Level::Scheduling,                         \
                    SPNG_NVTX_LABEL(::spng::nvtx::SchedulingDomain, name, ::spng::nvtx::Kind::Scheduling)    \
                        .attributes(__VA_ARGS__))
#define NVTX_SCHEDULING_MARK(name)                                                                           \
    SPNG_NVTX_MARK(::spng::nvtx::SchedulingDomain, ::spng::nvtx::Level::Scheduling, name,                    \
                   ::spng::nvtx::Kind::Scheduling)
#define NVTX_MARK(name)                                                                                      \
    SPNG_NVTX_MARK(::spng::nvtx::Domain, ::spng::nvtx::Level::Steps, name, ::spng::nvtx::Kind::Step)
#define NVTX_RANGE_PUSH(name)                                                                                \
    ::spng::nvtx::push(SPNG_NVTX_LABEL(::spng::nvtx::Domain, name, ::spng::nvtx::Kind::Step).attributes())
#define NVTX_RANGE_POP() ::spng::nvtx::pop()
#define NVTX_RANGE_START(name, ...)                                                                          \
    (::spng::nvtx::is_on(::spng::nvtx::Level::Steps)                                                         \
         ? ::spng::nvtx::start<::spng::nvtx::Domain>(                                                        \
               SPNG_NVTX_LABEL(::spng::nvtx::Domain, name, ::spng::nvtx::Kind::Step)                         \
                   .attributes(__VA_ARGS__))                                                                 \
         : ::std::uint64_t{0})
#define NVTX_RANGE_END(range) ::spng::nvtx::end<::spng::nvtx::Domain>(range)

#else

#define SPNG_NVTX_NOTHING(name) static_assert(sizeof(name) > 1, "a range needs a name")

#define NVTX_RANGE(name, kind_or_argb, ...) SPNG_NVTX_NOTHING(name)
#define NVTX_SCOPED_RANGE(name) SPNG_NVTX_NOTHING(name)
#define NVTX_FUNCTION_RANGE() static_assert(true)
#define NVTX_IO_RANGE(name, ...) SPNG_NVTX_NOTHING(name)
#define NVTX_SCHEDULING_RANGE(name, ...) SPNG_NVTX_NOTHING(name)
#define NVTX_SCHEDULING_MARK(name) SPNG_NVTX_NOTHING(name)
#define NVTX_MARK(name) SPNG_NVTX_NOTHING(name)
#define NVTX_RANGE_PUSH(name) SPNG_NVTX_NOTHING(name)
#define NVTX_RANGE_POP() static_cast<void>(0)
#define NVTX_RANGE_START(name, ...) (0 * sizeof(name))
#define NVTX_RANGE_END(range) static_cast<void>(sizeof(range))

#endif

#define NVTX_MARKER(name) NVTX_MARK(name)
