#pragma once
// SPNGInputCheck: whether waveforms fit the description of the detector. Noise, polarity and pulse shape of
// each plane are compared with the predictions of the detector's files.

#include "spng/core/component.h"
#include "spng/core/error.h"
#include "spng/detector/view_groups.h"
#include "spng/instrument/report/input_report.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/input_check/channel_pulses.h"
#include "spng/nodes/input_check/pulse_shape.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spng {

class TorchFRERSpectrum;

struct InputCheckConfig {
    std::string groups = "SPNGViewGroups";
    std::vector<std::string> frer_spectrum;
    std::string spectra;
    double min_noise = 0.6;
    double max_noise = 1.7;
    double max_polarity_difference = 0.6;
    double max_shaping_difference = 0.2;
    int max_events = 8;
    static constexpr auto fields() {
        using C = InputCheckConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "names of the TorchFRERSpectrum components, one for each view of all groups in turn"),
            field(&C::spectra, "spectra", "", any(),
                  "file of measured noise spectra; empty or not there: noise is not compared"),
            field(&C::min_noise, "min_noise", "", at_least(0),
                  "smallest noise that fits, over the noise of the spectra"),
            field(&C::max_noise, "max_noise", "", above(0),
                  "largest noise that fits, over the noise of the spectra"),
            field(&C::max_polarity_difference, "max_polarity_difference", "", between(0, 2),
                  "largest difference to the polarity of the response, which is 1 for collected and about 0 "
                  "for induced charge"),
            field(&C::max_shaping_difference, "max_shaping_difference", "", above(0),
                  "largest relative difference of the shaping time"),
            field(&C::max_events, "max_events", "", at_least(1),
                  "events that are looked at until there are enough pulses"));
    }
};

/// The predictions, made once before the first event.
class InputCheck : public ServiceWith<InputCheckConfig>, public DataFileReader {
public:
    using Plane = instrument::InputReport::Plane;

    struct Expectation {
        double unipolarity = 0;     ///< area of the response over the area of its magnitude
        bool lobes_in_order = true; ///< its positive lobe comes first
        double shaping = 0;         ///< ns
        /// Of planes that collect; null for others, where the shape tells more of the field response and of
        /// the track than of the electronics, which all planes share.
        std::shared_ptr<const PulseShapes> shapes;
        std::map<int, double> noise; ///< RMS [ADC] by channel; empty when there are no spectra
    };

    void prepare(Environment& environment) override;
    const Expectation& expectation(const Plane& plane) const { return m_expectations.at(plane); }
    const std::map<Plane, Expectation>& expectations() const { return m_expectations; }

private:
    /// Noise is not compared without spectra, or if their file is not there.
    const std::string& data_file_name() const override { return config().spectra; }
    Expectation make_expectation(Environment& environment, const TorchFRERSpectrum& response) const;

    std::map<Plane, Expectation> m_expectations;
};

/// Channels of a view that are measured: every n-th, so that at most 256 are.
std::int64_t measured_stride(std::int64_t channels);

/// The anode and plane of a view.
InputCheck::Plane plane_of(const ViewGroup& group, std::size_t view);

/// The measurements of one job, event by event, until they suffice.
class InputMeasurement {
public:
    explicit InputMeasurement(const InputCheck& check);

    /// Nothing more is looked at: every plane has its verdicts, or enough events were seen.
    bool finished() const { return m_finished; }

    /// Measure the channels of one group of an event.
    /// @param waveforms  (view, channel, tick) int16, float32 or float64 on the host
    /// @param good       (view, channel) bool on the host: rows to look at
    void add(const ViewGroup& group, const at::Tensor& waveforms, const at::Tensor& good);

    /// After all groups of an event: compare what suffices and was not compared before.
    /// @return a text for each number that does not fit
    std::vector<ErrorText> compare();

    /// Write the comparisons into the report's planes.
    void write_to(instrument::InputReport& report) const;

private:
    struct PlaneState {
        std::vector<double> noise, noise_ratio; ///< [ADC], over the expected; by channel
        std::vector<double> polarity;           ///< by pulse
        std::vector<double> shaping;            ///< over the expected, by pulse
        std::size_t channels_with_pulses = 0;
        std::size_t lobes = 0, lobes_in_order = 0;
        bool noise_done = false, polarity_done = false, shaping_done = false;
        instrument::PlaneReport report;
    };

    void compare_noise(const InputCheck::Plane& plane, PlaneState& state, std::vector<ErrorText>& problems);
    void compare_polarity(const InputCheck::Plane& plane, PlaneState& state,
                          std::vector<ErrorText>& problems);
    void compare_shaping(const InputCheck::Plane& plane, PlaneState& state, std::vector<ErrorText>& problems);

    const InputCheck& m_check;
    std::map<InputCheck::Plane, PlaneState> m_planes;
    int m_events = 0;
    bool m_finished = false;
};

} // namespace spng
