// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration keys of SPNGSigProc: those of spng::PipelineOptions, and the keys of the Wire-Cell Toolkit's
// OmnibusSigProc (OSP) that mean the same for both. Without headers of the toolkit.

#include "WireCellSpng/Pipeline.h"
#include "spng/core/field.h"

#include <nlohmann/json.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace spng::wirecell {

/// The keys with a fixed type. `arguments` is parsed apart, because its names are those of cfg/pipeline.jsonnet.
struct SigProcConfig {
    std::string detname = "pdhd";
    std::vector<int> tpcid;
    std::string anode;
    std::string model = "default";
    std::string device = "auto";
    std::vector<std::string> tags;
    std::string intag;
    std::string gauss_tag = "gauss";
    std::string wiener_tag = "wiener";
    std::string frame_tag = "sigproc";
    bool use_multi_plane_protection = false;
    std::string mp2_roi_tag = "mp2_roi";
    std::string mp3_roi_tag = "mp3_roi";
    bool sparse = false;
    bool save_negative_charge = true;
    static constexpr auto fields() {
        using C = SigProcConfig;
        return std::make_tuple(
            field(&C::detname, "detname", "", not_empty(), "detector, a name in cfg/detectors/all.jsonnet"),
            field(&C::tpcid, "tpcid", "", at_least(0),
                  "index of the anode, or an array of them; default: the ident of `anode`, or 0"),
            field(
                &C::anode, "anode", "", any(),
                "type:name of an AnodePlane of the job; its channels must be those of the detector's anode"),
            field(&C::model, "model", "", not_empty(), "network: default, none, standin or a model file"),
            field(&C::device, "device", "", not_empty(), "auto, cpu, cuda or cuda:N"),
            field(&C::tags, "tags", "", any(), "further products, each as 'product' or 'product:trace tag'"),
            field(
                &C::intag, "intag", "", any(),
                "trace tag of the ADC waveforms; empty: the only one of the frame, or all traces of a frame "
                "without trace tags; *: all traces"),
            field(&C::gauss_tag, "gauss_tag", "", any(),
                  "trace tag of the charge within ROIs (product signal); empty: none"),
            field(&C::wiener_tag, "wiener_tag", "", any(),
                  "trace tag of the Wiener-filtered charge within ROIs, with the noise as summary (product "
                  "wiener); empty: none"),
            field(&C::frame_tag, "frame_tag", "", any(), "tag of the frame; empty: none"),
            field(&C::use_multi_plane_protection, "use_multi_plane_protection", "", any(),
                  "write the coincidences of planes (products mp2 and mp3)"),
            field(&C::mp2_roi_tag, "mp2_roi_tag", "", any(), "trace tag of the coincidence of two planes"),
            field(&C::mp3_roi_tag, "mp3_roi_tag", "", any(), "trace tag of the coincidence of three planes"),
            field(&C::sparse, "sparse", "", any(),
                  "one trace for each run of samples that are not 0, instead of one for each channel"),
            field(&C::save_negative_charge, "save_negative_charge", "", any(),
                  "false: negative samples of gauss and wiener become 0"));
    }
};

/// A product of the chain, and the tag of its traces in the frame.
struct TraceTag {
    std::string product; ///< "signal", "wiener", "roi", ...
    std::string tag;     ///< "gauss0"
    float scale = 1;     ///< of the samples
};

/// The configuration of a node.
struct SigProcKeys {
    PipelineOptions pipeline; ///< `anodes` is {0} without the key tpcid
    bool has_tpcid = false;
    std::string anode; ///< type:name, may be empty
    std::string intag;
    std::string frame_tag;
    std::vector<TraceTag> tags; ///< at least one; a product may occur twice
    bool save_negative_charge = true;
};

/// Return the defaults of all keys, as the toolkit's IConfigurable gives them.
nlohmann::json default_keys();

/// Parse the keys of a node.
/// @param where  "SPNGSigProc:name", the location in errors
/// @throws Error(Configuration) for unknown keys (names the nearest known one), keys of OSP without equal meaning (names the
/// page that lists them), wrong types, unknown products, and two products under one trace tag
SigProcKeys keys_of(nlohmann::json data, const std::string& where);

} // namespace spng::wirecell
