#pragma once
// SPNGTorchService: a trained network, loaded and tried before the first event, shared by nodes.

#include "spng/core/component.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/dnn/model_runner.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct TorchServiceConfig {
    std::string model;
    std::vector<std::string> features = {"loose", "mp2", "mp3"};
    std::vector<std::int64_t> probe;
    bool transpose = false;
    std::int64_t multiple = 16;
    std::int64_t concurrency = 1;
    std::int64_t memory_budget = 0;
    std::int64_t chunk_ticks = 0;
    std::int64_t halo = -1;
    static constexpr auto fields() {
        using C = TorchServiceConfig;
        return std::make_tuple(
            field(&C::model, "model", "", required(),
                  "TorchScript file, or AOTInductor package (.pt2); found like data files"),
            field(&C::features, "features", "", not_empty(), "what the feature axis holds, in its order"),
            field(&C::probe, "probe", "1, 1, samples", Range{.low = 1, .required = true, .not_empty = true},
                  "shape (view, channel, tick) of the images of this job, with which the network is tried "
                  "before the first event"),
            field(&C::transpose, "transpose", "", any(),
                  "the network wants (tick, channel) as its last two axes; what the file says of itself goes "
                  "before"),
            field(&C::multiple, "multiple", "samples", between(1, 4096),
                  "channels and ticks are padded to multiples of it; what the file says goes before"),
            field(&C::concurrency, "concurrency", "", between(1, 1024), "forwards at the same time"),
            field(&C::memory_budget, "memory_budget", "B", at_least(0),
                  "tensor memory that one forward may take; more is cut along ticks; 0: no limit"),
            field(&C::chunk_ticks, "chunk_ticks", "samples", at_least(0),
                  "cut along ticks into pieces of so many, whatever the budget; 0: as the budget asks"),
            field(&C::halo, "halo", "samples", at_least(-1),
                  "how far an output depends on the input along ticks, so that cuts do not show; -1: as the "
                  "file says, else measured"));
    }
};

class TorchService : public ServiceWith<TorchServiceConfig>,
                     public instrument::Metered,
                     public DataFileReader {
public:
    /// Load the model onto the device of the job, hold it against the configuration, try it twice with the
    /// shape of the job so that the first event is not slower than the others.
    /// Throws Error(Model), naming the file, when it is missing, damaged, or does not fit this job in its
    /// features, the shape of its input or that of its output.
    void prepare(Environment& environment) override;

    /// See ModelRunner::forward. The features are stacked in the order of config().features. Inside of a node
    /// call it is measured as a call of its own below the node.
    at::Tensor forward(const at::Tensor& features) const;

    instrument::NodeMeter& meter() override { return *m_meter; }

    const ModelMetadata& metadata() const { return m_runner->model().metadata(); }
    /// Why forwards on a device cannot be recorded as a graph (Uncapturable); empty when they can.
    std::string capture_rejection() const;
    /// Provenance for the output: name, checksum and metadata of the file, and whether it is a stand-in.
    const Notes& notes() const { return m_notes; }

protected:
    void configured() override;

private:
    const std::string& data_file_name() const override { return config().model; }
    DataFile& identify_model();
    void check_features(const Model& model) const;
    void try_out(c10::Device device) const;

    Notes m_notes;
    std::unique_ptr<const ModelRunner> m_runner;
    std::unique_ptr<instrument::NodeMeter> m_meter;
    std::vector<std::int64_t> m_sizes; ///< (view, feature, channel, tick)
};

} // namespace spng
