// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interface of trained networks. Implementations: torch_script_model.cxx for TorchScript files,
// aot_inductor_model.cxx for compiled packages.

#include "spng/nodes/dnn/input/network_input.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Noise of the charge images that is the unit of a network's input.
struct TrainingNoise {
    /// By image (loose, tight) and plane (U, V, ...) [electrons]: median over events with nominal noise of the
    /// view's noise, see input_noise.h.
    std::map<std::string, std::vector<double>> planes;
    double low = 0;  ///< lowest ratio of measured noise to this at which the network was tried
    double high = 0; ///< highest ratio at which the network was tried
};

/// Metadata of a model file; missing entries are empty.
struct ModelMetadata {
    std::vector<std::string> inputs;      ///< features in the order of the feature axis
    std::optional<double> scale;          ///< factor on the charge image, electrons to network units
    std::optional<std::int64_t> rebin;    ///< ticks per sample of the image
    std::optional<std::int64_t> multiple; ///< channels and ticks must be multiples of it
    std::optional<std::int64_t> halo;     ///< samples along ticks on which an output depends, to each side
    std::optional<bool> transpose;        ///< the last two axes are (tick, channel)
    std::optional<TrainingNoise> noise;   ///< empty: do not scale the charge images by their noise
    std::optional<double> mask_threshold; ///< output above which a sample is in an ROI
    TrainedInput trained_input;
    bool stand_in = false; ///< made by hand for tests, not trained
    std::string text;      ///< all metadata as JSON on one line, including unknown keys
};

/// Parse the metadata of a model file.
/// @param text  JSON object; "" gives empty metadata. Unknown keys are ignored, because training programs add
///              their own.
/// @param file  name for error messages
/// @throws Error(Model) if the text is not a JSON object or a known key has another type
ModelMetadata parse_model_metadata(const std::string& text, const std::string& file);

/// Return the properties of its training that a network's file does not give, in words.
std::vector<std::string> properties_not_given(const ModelMetadata& network);

/// Thrown if the device or the host runs out of memory in a forward; a smaller input may fit.
class ModelOutOfMemory : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Model {
public:
    Model(ModelMetadata metadata, std::string file)
        : m_metadata(std::move(metadata)), m_file(std::move(file)) {}
    virtual ~Model() = default;

    /// Run the network. Thread-safe.
    /// @param input  (view, feature, channel, tick) float32 on the device of the model; (view, feature, tick,
    ///               channel) for a transposed model
    /// @return output of the network, not checked; should be (view, 1, channel, tick) in the axis order of
    ///         the input
    /// @throws ModelOutOfMemory
    /// @throws Error(Device) if the device or a library of CUDA failed
    /// @throws Error(Model) if the network rejects the input
    virtual at::Tensor forward(const at::Tensor& input) const = 0;

    const ModelMetadata& metadata() const { return m_metadata; }
    /// Path of the model file, for messages and for the notes of the output.
    const std::string& file() const { return m_file; }

private:
    ModelMetadata m_metadata;
    std::string m_file;
};

} // namespace spng
