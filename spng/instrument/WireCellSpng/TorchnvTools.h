#pragma once
// Ranges and marks for Nsight Systems and every other NVTX tool.
//
//   NVTX_SCOPED_RANGE("Decon::inverse_transform");        until the end of the scope
//   NVTX_RANGE("Decon::divide", spng::nvtx::Kind::Decon); the same with the category and colour of a kind
//   NVTX_RANGE("Decon::divide", 0xFF4E79A7);              the same with a colour 0xAARRGGBB
//   NVTX_RANGE("Decon::divide", 0xFF4E79A7, row_count);   ... and a payload (32/64-bit integer or floating
//   point) NVTX_FUNCTION_RANGE();                                the same, named after the function:
//   "Decon::operator()" NVTX_RANGE_PUSH("Decon::divide"); NVTX_RANGE_POP();   where no scope fits; must
//   balance on each thread NVTX_MARK("TorchService::model_loaded");              one point in time;
//   NVTX_MARKER is its older name
//
// A name is a string literal `Type::step`, so that it is registered once per call site and a range costs a
// few nanoseconds when no tool listens. Names known only at run time (`Type:instance`) belong to
// node_range.h. All go to the domain "spng". They only call NVTX, never CUDA, so they may stand inside a CUDA
// graph capture.
//
// On where SPNG_NVTX (or HAVE_NVTX, the field's older name) is defined non-zero. Otherwise nothing is
// compiled in: no symbol, no string, no evaluation of an argument. The header then includes nothing at all,
// and only checks that names are literals, so that a build without NVTX finds what would break a build with
// it.

#if (defined(SPNG_NVTX) && (SPNG_NVTX + 0)) || (defined(HAVE_NVTX) && (HAVE_NVTX + 0))
#define SPNG_NVTX_IS_ON 1
#else
#define SPNG_NVTX_IS_ON 0
#endif

#if SPNG_NVTX_IS_ON

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nvtx3/nvtx3.hpp>

namespace spng::nvtx {

struct Domain {
    static constexpr char const* name{"spng"};
};

/// What a range is about: the NVTX category, and through `palette` the colour. A node's kind is the folder of
/// its step; Step is a range inside a node that says nothing else.
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
    Simulation
};

struct KindColour {
    char const* category;
    std::uint32_t argb;
};

/// THE palette, in the order of Kind. Hues go along the chain: data movement grey and brown, Fourier space
/// blue, regions of interest warm, networks violet.
inline constexpr std::array<KindColour, 14> palette{{
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
}};

constexpr KindColour const& colour_of(Kind kind) noexcept {
    return palette[static_cast<std::size_t>(kind) - 1];
}

/// The kind whose category has this name, Other where there is none.
constexpr Kind kind_of(std::string_view name) noexcept {
    for (std::size_t index = 0; index < palette.size(); ++index) {
        if (name == palette[index].category) {
            return static_cast<Kind>(index + 1);
        }
    }
    return Kind::Other;
}

/// The category of a kind. The first call names all of them, so that tools show the whole legend.
inline nvtx3::category category_of(Kind kind) noexcept {
    static bool const named = [] {
        for (std::size_t index = 0; index < palette.size(); ++index) {
            nvtxDomainNameCategoryA(nvtx3::domain::get<Domain>(), static_cast<std::uint32_t>(index + 1),
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
class Label {
public:
    Label(char const* name, Kind kind) noexcept : Label(name, kind, colour_of(kind).argb) {}
    Label(char const* name, std::uint32_t argb) noexcept : Label(name, Kind::Step, argb) {}

    nvtx3::event_attributes const& attributes() const noexcept { return m_attributes; }

    template <class Payload>
    nvtx3::event_attributes attributes(Payload payload) const noexcept {
        return nvtx3::event_attributes{nvtx3::payload{payload}, m_name, m_category, m_colour};
    }

private:
    Label(char const* name, Kind kind, std::uint32_t argb) noexcept
        : m_name{name}, m_category{category_of(kind)}, m_colour{argb}, m_attributes{m_name, m_category,
                                                                                    m_colour} {}

    nvtx3::registered_string_in<Domain> m_name;
    nvtx3::category m_category;
    nvtx3::color m_colour;
    nvtx3::event_attributes m_attributes;
};

/// A range from its construction to the end of the scope; neither copied nor moved, so it ends once.
using ScopedRange = nvtx3::scoped_range_in<Domain>;

} // namespace spng::nvtx

#define SPNG_NVTX_JOIN_TOKENS(left, right) left##right
#define SPNG_NVTX_JOIN(left, right) SPNG_NVTX_JOIN_TOKENS(left, right)

// The immediately called lambda gives each call site its own static label inside one expression. "" before
// the name makes anything but a literal a compile error.
#define SPNG_NVTX_LABEL(name, kind_or_argb)                                                                  \
    ([]() noexcept -> ::spng::nvtx::Label const& {                                                           \
        static ::spng::nvtx::Label const spng_nvtx_label{"" name, kind_or_argb};                             \
        return spng_nvtx_label;                                                                              \
    }())

#define NVTX_RANGE(name, kind_or_argb, ...)                                                                  \
    ::spng::nvtx::ScopedRange const SPNG_NVTX_JOIN(spng_nvtx_range_, __COUNTER__) {                          \
        SPNG_NVTX_LABEL(name, kind_or_argb).attributes(__VA_ARGS__)                                          \
    }
#define NVTX_SCOPED_RANGE(name) NVTX_RANGE(name, ::spng::nvtx::Kind::Step)
#define SPNG_NVTX_FUNCTION_LABEL(signature)                                                                  \
    ([](char const* spng_nvtx_signature) noexcept -> ::spng::nvtx::Label const& {                            \
        static ::spng::nvtx::Label const spng_nvtx_label{                                                    \
            ::std::string{::spng::nvtx::function_name(spng_nvtx_signature)}.c_str(),                         \
            ::spng::nvtx::Kind::Step};                                                                       \
        return spng_nvtx_label;                                                                              \
    }(signature))
#define NVTX_FUNCTION_RANGE()                                                                                \
    ::spng::nvtx::ScopedRange const SPNG_NVTX_JOIN(spng_nvtx_range_, __COUNTER__) {                          \
        SPNG_NVTX_FUNCTION_LABEL(__PRETTY_FUNCTION__).attributes()                                           \
    }
#define NVTX_RANGE_PUSH(name)                                                                                \
    static_cast<void>(                                                                                       \
        ::nvtxDomainRangePushEx(::nvtx3::domain::get<::spng::nvtx::Domain>(),                                \
                                SPNG_NVTX_LABEL(name, ::spng::nvtx::Kind::Step).attributes().get()))
#define NVTX_RANGE_POP() static_cast<void>(::nvtxDomainRangePop(::nvtx3::domain::get<::spng::nvtx::Domain>()))
#define NVTX_MARK(name)                                                                                      \
    ::nvtx3::mark_in<::spng::nvtx::Domain>(SPNG_NVTX_LABEL(name, ::spng::nvtx::Kind::Step).attributes())

#else

#define SPNG_NVTX_NOTHING(name)                                                                              \
    static_assert(sizeof("" name) > 1, "a range needs a name that is a string literal")

#define NVTX_RANGE(name, kind_or_argb, ...) SPNG_NVTX_NOTHING(name)
#define NVTX_SCOPED_RANGE(name) SPNG_NVTX_NOTHING(name)
#define NVTX_FUNCTION_RANGE() static_assert(true)
#define NVTX_RANGE_PUSH(name) SPNG_NVTX_NOTHING(name)
#define NVTX_RANGE_POP() static_cast<void>(0)
#define NVTX_MARK(name) SPNG_NVTX_NOTHING(name)

#endif

#define NVTX_MARKER(name) NVTX_MARK(name)
