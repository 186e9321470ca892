// SPDX-License-Identifier: Apache-2.0
#include "spng/job/wct_names.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace spng {
namespace {

constexpr const char* page = "docs/migration.md";

using Table = std::map<std::string_view, const char*>;

constexpr const char* graph_of_tensors =
    "nodes here exchange sets of named tensors: see the steps of the chain in cfg/pipeline.jsonnet";
constexpr const char* plumbing = "ports and names of tensors replace it";
constexpr const char* packing = "nodes take sets, so nothing is packed or unpacked";
constexpr const char* cross_views = "use SPNGNoTileMPCoincidence";
constexpr const char* kernels = "use TorchFRERSpectrum and Torch1DSpectrum with SPNGDecon";
constexpr const char* network =
    "use SPNGDNNROI with SPNGTorchService, or -A model=FILE of cfg/pipeline.jsonnet";
constexpr const char* built_in_service = "leave it out: a part of the program replaces it";
constexpr const char* frames =
    "leave it out: SPNGFrameToTorchSetFanout and SPNGTorchTensorSetToFrameFanin work on frames";
constexpr const char* noise = "use noise_filter of cfg/pipeline.jsonnet";
constexpr const char* simulation = "use cfg/simulate.jsonnet";
constexpr const char* response =
    "the response is computed by TorchFRERSpectrum and by the simulation's nodes";

const Table types{
    // OmnibusSigProc (OSP) and its jobs
    {"OmnibusSigProc", "use cfg/pipeline.jsonnet, whose nodes replace it; in WCT's own wire-cell use "
                       "SPNGSigProc (docs/wirecell-plugin.md)"},
    {"L1SPFilter", "shorted wires have no response of their own here"},
    {"L1SPFilterPD", "unipolar pulses on induction planes are not treated here"},
    {"PerChannelResponse", "all channels have the response of ColdElecResponse; see noise_filter=tails"},
    {"ParamsPerChannelResponse", "all channels have the response of ColdElecResponse"},
    {"FilterResponse", "use a filter set of the detector (-A filters=...)"},
    {"ResponseSys", response},
    {"RCResponse", "use noise_filter=tails, which removes the tails of the RC coupling"},
    {"PlaneImpactResponse", response},
    {"DNNROIFinding", network},
    {"TorchService", network},
    {"TorchScript", network},
    {"TorchDFT", built_in_service},
    {"FftwDFT", built_in_service},
    {"Random", "leave it out: nodes of the simulation have the key seed"},
    {"Semaphore", "leave it out: SPNGTorchService has the key concurrency"},
    {"TbbDataFlowGraph", "leave it out: TbbFlow has the keys max_threads and events_in_flight"},
    {"FrameFanout", frames},
    {"FrameFanin", frames},
    {"FrameSplitter", frames},
    {"FrameMerger", frames},
    {"ChannelSelector", "use -A tpcid=ANODES with -A other_anodes=ignore"},
    {"ChannelSplitter", frames},
    {"PlaneSelector", frames},
    {"Retagger", "use the keys tags and intag of the nodes that read and write frames"},
    {"Reframer", frames},
    {"Resampler", "describe the ticks of the raw frames in the detector (raw_readout)"},
    {"DumpFrames", "use SPNGDiscard"},
    {"HDF5FrameTap", "write another format and convert it: wirecell-frame convert"},
    {"NumpyFrameSaver", "use FrameFileSink"},
    {"MagnifySink", "use FrameFileSink and wirecell-frame show"},
    {"MagnifySource", "convert the file to a frame file with WCT"},
    {"CelltreeSource", "convert the file to a frame file with WCT"},
    {"TensorFileSink", "use SPNGTensorTap"},
    {"HioTensorSink", "use SPNGTensorTap"},
    {"OmnibusNoiseFilter", noise},
    {"OmnibusPMTNoiseFilter", noise},
    {"OmniChannelNoiseDB",
     "use bad_channels of cfg/pipeline.jsonnet; it reads the lists bad and channel_info"},
    {"Undigitizer", "frames are read in ADC counts"},
    // Simulation
    {"AddNoise", simulation},
    {"IncoherentAddNoise", simulation},
    {"CoherentAddNoise", simulation},
    {"EmpiricalNoiseModel", simulation},
    {"StaticChannelStatus", "simulated channels are all good"},
    {"DepoFluxSplat", simulation},
    {"DepoSetDrifter", simulation},
    {"DepoSetFanout", simulation},
    {"DepoTransform", simulation},
    {"Digitizer", simulation},
    {"Drifter", simulation},
    {"TrackDepos", simulation},
    // The SPNG jobs of WCT
    {"FrameToTorch", "use SPNGFrameToTorchSetFanout"},
    {"FrameToTorchFanout", "use SPNGFrameToTorchSetFanout"},
    {"FrameToTorchSet", "use SPNGFrameToTorchSetFanout"},
    {"SPNGCellViews", cross_views},
    {"SPNGCrossViews", cross_views},
    {"SPNGCrossViewsExtract", cross_views},
    {"SPNGDNNROIPostProcess", network},
    {"SPNGDNNROIPreProcess", network},
    {"SPNGDNNROIProcess", network},
    {"SPNGDeconKernel", kernels},
    {"SPNGExpand", plumbing},
    {"SPNGFaninTensors", "use SPNGFaninTensorSets"},
    {"SPNGFanoutTensors", "use SPNGFanoutTensorSets"},
    {"SPNGFilterKernel", kernels},
    {"SPNGFindMPCoincidence", cross_views},
    {"SPNGFrameToTdm", "use SPNGFrameToTorchSetFanout"},
    {"SPNGFunctionNode", graph_of_tensors},
    {"SPNGKernelConvolve", "use SPNGDecon and SPNGApply1DSpectrum"},
    {"SPNGMultiply", graph_of_tensors},
    {"SPNGRatioKernel", kernels},
    {"SPNGRebaseliner", "use SPNGApplyROI, with its key baseline"},
    {"SPNGRebinner", "use SPNGApply1DSpectrum, with its key rebin"},
    {"SPNGReduce", graph_of_tensors},
    {"SPNGResponseKernel", kernels},
    {"SPNGSigProc", "use cfg/pipeline.jsonnet"},
    {"SPNGSimpleOpOr", graph_of_tensors},
    {"SPNGTdmToFrame", "use SPNGTorchTensorSetToFrameFanin"},
    {"SPNGTdmToTensorSet", packing},
    {"SPNGTensorForward", network},
    {"SPNGTensorForwardTS", network},
    {"SPNGTensorPacker", packing},
    {"SPNGTensorSetPickleSink", "use SPNGTensorTap"},
    {"SPNGTensorUnpacker", packing},
    {"SPNGThreshold", "use SPNGThresholdROIs"},
    {"SPNGTorchPacker", packing},
    {"SPNGTorchSetUnpacker", packing},
    {"SPNGTorchTensorFileSink", "use SPNGTensorTap"},
    {"SPNGTorchTensorFileSource", graph_of_tensors},
    {"SPNGTorchTensorSetTagger", plumbing},
    {"SPNGTransform", graph_of_tensors},
    {"TensorToTorch", packing},
    {"TorchPacker", packing},
    {"TorchTensorSetCollator", "use SPNGFaninTensorSets"},
    {"TorchTensorSetReplicator", "use SPNGFanoutTensorSets"},
    {"TorchTensorSetStacker", "use SPNGFaninTensorSets"},
    {"TorchTensorSetUnstacker", "use SPNGFanoutTensorSets"},
    {"TorchToTensor", packing},
};

const Table plugins{
    {"WireCellClus", "clustering is not a part of this program"},
    {"WireCellCuda", "leave it out: -A device=cuda uses a device"},
    {"WireCellFlash", "light is not a part of this program"},
    {"WireCellHio", "leave it out; for HDF5, convert the files: wirecell-frame convert"},
    {"WireCellLarsoft",
     "see docs/frameworks.md for a module in LArSoft, docs/wirecell-plugin.md for jobs of WCT"},
    {"WireCellMatch", "matching of light and charge is not a part of this program"},
    {"WireCellPytorch", "leave it out: SPNGDNNROI and SPNGTorchService run networks"},
    {"WireCellRoot", "ROOT files are not supported; exchange frame files"},
    {"WireCellTriton", "leave it out: -A model_server=ADDRESS asks a server of networks"},
    {"WireCellZio", "network streams are not supported"},
};

/// Keys that WCT's components get from common base classes and from its spng/control.jsonnet.
const std::vector<std::string> common_keys{"debug_force_cpu", "device",    "dft",      "group_name", "rng",
                                           "semaphore",       "type_name", "verbosity"};

const std::map<std::string_view, std::vector<std::string>> keys{
    {"AnodePlane", {"faces", "field_response", "fields", "nimpacts", "wires"}},
    {"ColdElecResponse", {"nticks", "start", "tick"}},
    {"FrameFileSink", {"baseline", "dense", "digitize", "offset", "scale", "tags"}},
    {"FrameFileSource", {"frame_tags", "tick"}},
    {"HfFilter", {"max_freq", "use_negative_freqs"}},
    {"JsonElecResponse", {"nticks", "start", "tick"}},
    {"LfFilter", {"max_freq", "use_negative_freqs"}},
    {"Pgrapher", {}},
    {"SPNGApply1DSpectrum", {"dimension", "output_set_tag", "target_tensor"}},
    {"SPNGApplyROI", {"ROI_tensor_index", "output_set_tag", "value_tensor_index"}},
    {"SPNGDNNROI", {"is_gpu", "output_offset", "output_scale", "plane", "sort_chanids"}},
    {"SPNGDecon",
     {"coarse_time_offset", "debug_no_frer", "debug_no_roll", "debug_no_wire_filter", "output_set_tag",
      "output_tensor_tag", "tensor_index", "unsqueeze_input", "use_fft_best_length"}},
    {"SPNGDepoFileSource", {"scale"}},
    {"SPNGFaninTensorSets", {}},
    {"SPNGFanoutTensorSets", {}},
    {"SPNGFrameToTorchSetFanout", {"anode", "unsqueeze_output"}},
    {"SPNGNoTileMPCoincidence",
     {"anode", "aux_plane_l_index", "aux_plane_m_index", "debug_output", "face_index", "output_torch_name",
      "target_plane_index"}},
    {"SPNGResampler",
     {"combine_policy", "datapath_format", "debug_filename", "dim", "input_datapath", "input_tensors",
      "keep_unselected", "norm", "output_datapath", "output_tensors", "ratio", "select_parents", "tag",
      "tensor_renaming", "tensor_selection"}},
    {"SPNGThresholdROIs", {"output_set_tag", "unsqueeze_input"}},
    {"SPNGTorchService", {}},
    {"SPNGTorchTensorSetToFrameFanin", {"anode", "input_groups"}},
    {"TbbFlow", {"dfp"}},
    {"Torch1DSpectrum", {"default_length"}},
    {"TorchFRERSpectrum", {"default_nchans", "gain"}},
    {"WarmElecResponse", {"nticks", "start", "tick"}},
    {"WireSchemaFile", {"correction"}},
};

std::string find(const Table& table, const std::string& name) {
    const auto found = table.find(name);
    return found == table.end() ? std::string{}
                                : std::string(found->second) + "; " + page + " has all names of WCT";
}

} // namespace

std::string instead_of_wct_type(const std::string& type) {
    return find(types, type);
}

std::string instead_of_wct_plugin(const std::string& plugin) {
    return find(plugins, plugin);
}

std::vector<std::string> wct_keys_without_equal(const std::string& type) {
    const auto own = keys.find(type);
    if (own == keys.end()) {
        return {};
    }
    std::vector<std::string> all = own->second;
    all.insert(all.end(), common_keys.begin(), common_keys.end());
    return all;
}

void reject_wct_keys(const std::string& where, const std::string& type, const nlohmann::json& data,
                     const std::vector<std::string>& known) {
    if (!data.is_object()) {
        return;
    }
    if (type == "FrameFileSource" && data.value("tags", nlohmann::json()) == nlohmann::json::array()) {
        throw Error(ErrorKind::Configuration,
                    {.what = "an empty list of tags does not have the meaning of the Wire-Cell Toolkit (WCT)",
                     .where = where + ", key tags",
                     .seen = "[]",
                     .expected = "names of tags, or \"*\" for all",
                     .hint = "WCT reads traces without a tag then, which \"*\" reads too; " +
                             std::string(page) + " has all keys"});
    }
    for (const auto& key : wct_keys_without_equal(type)) {
        if (data.contains(key)) {
            throw Error(
                ErrorKind::Configuration,
                {.what = "key '" + key + "' of the Wire-Cell Toolkit (WCT) does not exist here",
                 .where = where,
                 .seen = key,
                 .expected = "one of: " + joined(known),
                 .hint = std::string(page) + " has the keys of WCT's " + type + " and what to use instead"});
        }
    }
}

} // namespace spng
