// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace spng::wirecell {
namespace {

using nlohmann::json;

constexpr const char* page = "docs/wirecell-plugin.md";

/// The products that cfg/pipeline.jsonnet can make.
const std::vector<std::string>& products() {
    static const std::vector<std::string> names = {"signal", "error", "decon_charge", "wiener",
                                                   "loose",  "mp2",   "mp3",          "roi"};
    return names;
}

// The names of the keys below are facts of WCT 0.35, sigproc/src/OmnibusSigProc.cxx (configure()).

/// Tags that OSP writes only with use_roi_debug_mode, which is rejected here: accepted, without effect, as in OSP.
constexpr std::array<std::string_view, 8> debug_tags = {
    "decon_charge_tag",    "tight_lf_tag",        "loose_lf_tag",   "cleanup_roi_tag",
    "break_roi_loop1_tag", "break_roi_loop2_tag", "shrink_roi_tag", "extend_roi_tag"};

/// Sample inside a coincidence of planes in OSP's traces, from which WCT's DNNROIFinding expects it (save_mproi()).
constexpr float osp_roi_value = 4000;

/// Keys of OSP with one value that means the same here.
const std::vector<std::pair<std::string, json>>& fixed_keys() {
    static const std::vector<std::pair<std::string, json>> keys = {
        {"use_roi_debug_mode", false},
        {"use_roi_refinement", true},
        {"rawdecon_tag", ""},
        {"dump_2d_spectra", false},
        {"verbose", 0},
    };
    return keys;
}

/// Keys of OSP without equal meaning (words): the description of the detector (detname) and its
/// filter set have these values.
constexpr std::string_view foreign_keys =
    "ADC_mV charge_ch_offset ctoffset dft do_not_mp_protect_traditional dump_2d_prefix elecresponse "
    "fft_flag field_response filter_responses_tn ftoffset gain Gaus_wide_filter inter_gain isWrapped "
    "lroi_jump_one_bin lroi_max_th lroi_rebin lroi_short_length lroi_th_factor lroi_th_factor1 "
    "MP_feature_val_method mp_th1 mp_th2 mp_tick_resolution nticks nwires_separate_planes "
    "per_chan_resp period plane2layer postgain process_planes r_break_roi_loop "
    "r_break_roi_loop_planes r_fake_signal_high_th r_fake_signal_high_th_ind_factor "
    "r_fake_signal_low_th r_fake_signal_low_th_ind_factor r_low_peak_sep_threshold_pre r_max_npeaks "
    "r_pad r_pad_planes r_sep_peak r_sigma r_th_factor r_th_factor_planes r_th_peak r_th_percent "
    "rebase_method rebase_nbins rebase_nsigma rebase_planes ROI_loose_lf_filter roi_mad_rms "
    "ROI_tight_lf_filter ROI_tighter_lf_filter shaping troi_asy troi_col_th_factor "
    "troi_ind_th_factor troi_pad use_real_dft wiener_threshold_tag Wiener_tight_filters "
    "Wiener_wide_filters Wire_filters";

[[noreturn]] void reject(ErrorText text) {
    throw Error(ErrorKind::Configuration, std::move(text));
}

bool is_foreign(const std::string& key) {
    static const std::set<std::string, std::less<>> names = [] {
        std::istringstream words{std::string(foreign_keys)};
        return std::set<std::string, std::less<>>(std::istream_iterator<std::string>(words), {});
    }();
    return names.contains(key);
}

/// Remove the keys of OSP that have no effect, and reject those without equal meaning.
void take_keys_of_osp(json& data, const std::string& where) {
    for (const std::string_view tag : debug_tags) {
        data.erase(std::string(tag));
    }
    for (const auto& [key, value] : fixed_keys()) {
        const auto found = data.find(key);
        if (found == data.end()) {
            continue;
        }
        if (*found != value) {
            reject({.what = "SPNGSigProc has one value of this key of OmnibusSigProc",
                    .where = where + ", key " + key,
                    .seen = found->dump(),
                    .expected = value.dump() + ", or leave the key out",
                    .hint = std::string(page) + "#keys-of-omnibussigproc"});
        }
        data.erase(key);
    }
    std::vector<std::string> seen;
    for (const auto& [key, value] : data.items()) {
        if (is_foreign(key)) {
            seen.push_back(key);
        }
    }
    if (!seen.empty()) {
        reject({.what = "keys of OmnibusSigProc that have no equal meaning for SPNGSigProc",
                .where = where,
                .seen = joined(seen),
                .expected = "only keys of SPNGSigProc: detname and filters choose these values",
                .hint = std::string(page) +
                        "#keys-of-omnibussigproc; replace() of spng_sigproc.jsonnet drops them"});
    }
}

/// Return the value of an argument of cfg/pipeline.jsonnet as text.
std::string to_string(const json& value, const std::string& where) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_boolean() || value.is_number_integer()) {
        return value.dump();
    }
    if (value.is_number()) {
        // Jsonnet has one numeric type: 4 may arrive as 4.0.
        const double real = value.get<double>();
        constexpr double exact = 9.0e15;
        return std::floor(real) == real && std::abs(real) < exact
                   ? std::to_string(static_cast<std::int64_t>(real))
                   : value.dump();
    }
    detail::wrong_type(where, value, "string, number or boolean");
}

std::map<std::string, std::string> take_arguments(json& data, const std::string& where) {
    std::map<std::string, std::string> arguments;
    const auto found = data.find("arguments");
    if (found == data.end()) {
        return arguments;
    }
    if (found->is_null()) { // the default
        data.erase(found);
        return arguments;
    }
    const std::string location = where + ", key arguments";
    detail::require_object(location, *found);
    // These have a key of their own, or no meaning for frames in memory.
    static const std::vector<std::string> others = {"detname",
                                                    "tpcid",
                                                    "model",
                                                    "device",
                                                    "tags",
                                                    "intag",
                                                    "frames",
                                                    "output",
                                                    "input",
                                                    "window",
                                                    "results_on_device",
                                                    "series",
                                                    "nevents"};
    for (const auto& [name, value] : found->items()) {
        if (std::find(others.begin(), others.end(), name) != others.end()) {
            reject({.what = "an argument that the node sets itself",
                    .where = location,
                    .seen = name,
                    .expected = "other arguments of cfg/pipeline.jsonnet",
                    .hint = name == "detname" || name == "tpcid" || name == "model" || name == "device" ||
                                    name == "tags" || name == "intag"
                                ? "give it as key " + name + " of the node"
                                : ""});
        }
        arguments.emplace(name, to_string(value, location + "." + name));
    }
    if (const auto engine = arguments.find("engine");
        engine != arguments.end() && engine->second != "Pgrapher") {
        reject({.what = "the node cannot use this engine",
                .where = location,
                .seen = "engine " + engine->second,
                .expected = "Pgrapher",
                .hint = "TbbFlow would wait for threads of WCT's own TbbFlow, which wait for this node"});
    }
    data.erase(found);
    return arguments;
}

/// tpcid may be one number, and tags one text with commas.
void make_arrays(json& data) {
    if (const auto found = data.find("tpcid"); found != data.end() && found->is_number()) {
        *found = json::array({*found});
    }
    if (const auto found = data.find("tags"); found != data.end() && found->is_string()) {
        json list = json::array();
        const auto text = found->get<std::string>();
        for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
            const std::size_t end = std::min(text.find(',', begin), text.size());
            list.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        *found = std::move(list);
    }
}

/// Return the products and their trace tags, in the order of the keys.
std::vector<TraceTag> trace_tags(const SigProcConfig& config, const std::string& where) {
    std::vector<TraceTag> tags;
    const auto add = [&](std::string product, std::string tag, const char* key, float scale = 1) {
        const auto same =
            std::find_if(tags.begin(), tags.end(), [&](const TraceTag& other) { return other.tag == tag; });
        if (same != tags.end()) {
            reject({.what = "two products have the same trace tag",
                    .where = where + ", key " + key,
                    .seen = "'" + tag + "' for " + same->product + " and " + product,
                    .expected = "different trace tags",
                    .hint = "write product:tag in key tags"});
        }
        tags.push_back({std::move(product), std::move(tag), scale});
    };
    if (!config.gauss_tag.empty()) {
        add("signal", config.gauss_tag, "gauss_tag");
    }
    if (!config.wiener_tag.empty()) {
        add("wiener", config.wiener_tag, "wiener_tag");
    }
    if (config.use_multi_plane_protection) {
        for (const auto& [product, tag, key] : {std::tuple{"mp3", config.mp3_roi_tag, "mp3_roi_tag"},
                                                {"mp2", config.mp2_roi_tag, "mp2_roi_tag"}}) {
            if (tag.empty()) {
                reject({.what = "a trace tag is empty",
                        .where = where + ", key " + key,
                        .seen = "\"\"",
                        .expected = "a tag, or use_multi_plane_protection: false"});
            }
            add(product, tag, key, osp_roi_value);
        }
    }
    for (const std::string& text : config.tags) {
        const std::size_t colon = text.find(':');
        const std::string product = text.substr(0, colon);
        const std::string tag = colon == std::string::npos ? product : text.substr(colon + 1);
        if (std::find(products().begin(), products().end(), product) == products().end() || tag.empty()) {
            reject({.what = "unknown product",
                    .where = where + ", key tags",
                    .seen = "'" + text + "'",
                    .expected = "product or product:tag, with one of: " + joined(products()),
                    .hint = tag.empty() ? "write a tag behind the colon"
                            : product == "gauss"
                                ? "signal is the charge within ROIs, decon_charge that before ROIs"
                                : suggestion(product, products())});
        }
        add(product, tag, "tags");
    }
    if (tags.empty()) {
        reject({.what = "the node has nothing to write",
                .where = where,
                .seen = "empty gauss_tag and wiener_tag, and no tags",
                .expected = "at least one product"});
    }
    return tags;
}

} // namespace

json default_keys() {
    json keys = to_json(SigProcConfig{});
    keys["arguments"] = nullptr; // WCT would keep an object in place of a value of another type
    return keys;
}

SigProcKeys keys_of(json data, const std::string& where) {
    if (data.is_null()) {
        data = json::object();
    }
    detail::require_object(where, data);
    take_keys_of_osp(data, where);
    SigProcKeys keys;
    keys.pipeline.arguments = take_arguments(data, where);
    make_arrays(data);
    auto config = parse<SigProcConfig>(data, where);
    keys.pipeline.detector = std::move(config.detname);
    keys.has_tpcid = !config.tpcid.empty();
    if (keys.has_tpcid) {
        keys.pipeline.anodes = config.tpcid;
    }
    keys.pipeline.model = std::move(config.model);
    keys.pipeline.device = std::move(config.device);
    keys.pipeline.sparse = config.sparse;
    keys.tags = trace_tags(config, where);
    keys.pipeline.tags.clear();
    for (const TraceTag& tag : keys.tags) {
        auto& wanted = keys.pipeline.tags;
        if (std::find(wanted.begin(), wanted.end(), tag.product) == wanted.end()) {
            wanted.push_back(tag.product);
        }
    }
    keys.anode = std::move(config.anode);
    keys.intag = std::move(config.intag);
    keys.frame_tag = std::move(config.frame_tag);
    keys.save_negative_charge = config.save_negative_charge;
    return keys;
}

} // namespace spng::wirecell
