#pragma once
// A trained network, whatever it was saved as. Only the implementations know the library that runs it
// (torch_script_model.cxx for TorchScript files, aot_inductor_model.cxx for compiled packages).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace spng {

/// Noise of the charge image in the events that a network was trained on.
struct TrainingNoise {
    /// By plane (U, V, ...) [electrons]: median over the events of a view's noise, as input_noise.h has it.
    std::vector<double> planes;
    double low = 0;  ///< lowest tried ratio of measured noise to this
    double high = 0; ///< highest tried ratio
};

/// What a model file says about itself; what it does not say is empty.
struct ModelMetadata {
    std::vector<std::string> inputs;      ///< features in the order of the feature axis
    std::optional<double> scale;          ///< factor on the charge image, electrons to network units
    std::optional<std::int64_t> rebin;    ///< ticks of the readout in one sample of the image
    std::optional<std::int64_t> multiple; ///< channels and ticks must be multiples of it
    std::optional<std::int64_t> halo;     ///< how far an output depends on input, in samples along ticks
    std::optional<bool> transpose;        ///< the last two axes are (tick, channel)
    std::optional<TrainingNoise> noise;   ///< empty: the charge image is not scaled by its noise
    bool stand_in = false;                ///< made by hand for tests, not trained
    std::string text;                     ///< all of it as JSON on one line, known keys or not
};

/// Read the JSON text that a model file carries ("" says nothing). Unknown keys are left alone, since
/// training programs add their own.
/// @param file  named in errors
/// Throws Error(Model) for text that is not a JSON object or a known key of another type.
ModelMetadata parse_model_metadata(const std::string& text, const std::string& file);

/// The device or the host had not enough memory for a forward; a smaller input may fit.
class ModelOutOfMemory : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Model {
public:
    virtual ~Model() = default;

    /// Thread-safe.
    /// @param input  float32 (view, feature, channel, tick) on the model's device; (view, feature, tick,
    ///               channel) for a model that wants it so
    /// @return what the network gives, meant to be (view, 1, channel, tick) in the axis order of the input
    /// Throws ModelOutOfMemory, and Error(Model) when the network rejects the input.
    virtual at::Tensor forward(const at::Tensor& input) const = 0;

    virtual const ModelMetadata& metadata() const = 0;
    /// The file it came from, for messages and for the notes of the output.
    virtual const std::string& file() const = 0;
};

} // namespace spng
