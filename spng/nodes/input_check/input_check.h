// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGInputCheck: compare noise, polarity and pulse shape of each plane with the predictions from the
// detector files (docs/decisions/input-check.md).

#include "spng/core/component.h"
#include "spng/core/error.h"
#include "spng/detector/view_groups.h"
#include "spng/instrument/report/input_report.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/input_check/channel_pulses.h"
#include "spng/nodes/input_check/pulse_shape.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spng {

class TorchFRERSpectrum;

/// An anode as another detector with the same channel ids describes it.
struct AlternativeConfig {
    std::string detname;
    int anode = 0;
    std::vector<int> collecting;
    double gain = 1;
    static constexpr auto fields() {
        using C = AlternativeConfig;
        return std::make_tuple(
            field(&C::detname, "detname", "", required(), "name of the detector"),
            field(&C::anode, "anode", "", at_least(0), "id of the anode"),
            field(&C::collecting, "collecting", "", between(0, 2), "planes that collect"),
            field(&C::gain, "gain", "1", above(0),
                  "its ADC counts per charge relative to those of the described detector"));
    }
};

struct InputCheckConfig {
    std::string groups = "SPNGViewGroups";
    std::vector<std::string> frer_spectrum;
    std::string spectra;
    std::vector<AlternativeConfig> alternatives;
    double min_noise = 0.6;
    double max_noise = 1.7;
    double max_polarity_difference = 0.6;
    double max_shaping_difference = 0.05;
    int max_events = 8;
    static constexpr auto fields() {
        using C = InputCheckConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "names of the TorchFRERSpectrum components, one per view in the order of the groups"),
            field(&C::spectra, "spectra", "", any(),
                  "file of measured noise spectra; empty or missing: do not compare noise"),
            field(&C::alternatives, "alternatives", "", any(),
                  "other detectors with the same channel ids: the hint of a warning names the one that "
                  "fits"),
            field(&C::min_noise, "min_noise", "", at_least(0),
                  "lowest accepted ratio of measured noise to the noise of the spectra"),
            field(&C::max_noise, "max_noise", "", above(0),
                  "highest accepted ratio of measured noise to the noise of the spectra"),
            field(&C::max_polarity_difference, "max_polarity_difference", "", between(0, 2),
                  "largest accepted difference to the polarity of the response, which is 1 for collected and "
                  "about 0 for induced charge"),
            field(&C::max_shaping_difference, "max_shaping_difference", "", above(0),
                  "largest accepted relative difference of the shaping time"),
            field(&C::max_events, "max_events", "", at_least(1),
                  "maximum number of events to measure until there are enough pulses"));
    }
};

/// Predictions for each plane, computed once before the first event.
class InputCheck : public ServiceWith<InputCheckConfig>, public DataFileReader {
public:
    using Plane = instrument::InputReport::Plane;

    struct Expectation {
        double unipolarity = 0;     ///< area of the response over the area of its magnitude
        bool lobes_in_order = true; ///< the positive lobe of the response comes first
        double shaping = 0;         ///< shaping time [ns]
        /// Templates for planes that collect. Null for other planes: there the shape depends more on the field
        /// response and the track than on the electronics, which all planes share.
        std::shared_ptr<const PulseShapes> shapes;
        std::map<int, double> noise; ///< RMS [ADC] by channel; empty without spectra
    };

    void prepare(Environment& environment) override;
    const Expectation& expectation(const Plane& plane) const { return m_expectations.at(plane); }
    const std::map<Plane, Expectation>& expectations() const { return m_expectations; }

private:
    const std::string& data_file_name() const override { return config().spectra; }
    Expectation make_expectation(Environment& environment, const TorchFRERSpectrum& response) const;

    std::map<Plane, Expectation> m_expectations;
};

/// Every n-th channel of a view.
struct EveryChannel {
    std::int64_t first = 0, stride = 1;
};

/// Return the rows of a view to measure: every n-th good row among the channels, so that at most 256 are measured.
std::vector<std::int64_t> measured_rows(const bool* good, std::int64_t rows, EveryChannel channels = {});

/// Return anode and plane of a view.
InputCheck::Plane plane_of(const ViewGroup& group, std::size_t view);

/// Measurements of one job, accumulated event by event until there are enough, or a glance at one event.
class InputMeasurement {
public:
    /// `whole`: up to 256 rows of each view. `glance`: a comparison needs few rows and pulses, so that every event of a job can
    /// be looked at; it gives reasons to measure the event as a whole. Does not compare the shape of pulses.
    enum class Depth { whole, glance };

    explicit InputMeasurement(const InputCheck& check, Depth depth = Depth::whole);

    const InputCheck& check() const { return m_check; }
    /// Return whether every comparison is done, or max_events events were measured.
    bool finished() const { return m_finished; }

    struct Channel {
        double expected_noise = 0; ///< RMS [ADC]; 0: unknown
        ChannelLevel level;
        std::vector<Pulse> pulses;
        NoiseProducts products; ///< only on planes whose pulse shape is compared
    };
    struct View {
        InputCheck::Plane plane;
        std::vector<Channel> channels; ///< the measured ones
    };
    /// Channels of a group, cleaned, on the host.
    struct Waveforms {
        at::Tensor waveforms;    ///< (view, channel, tick) int16, float32 or float64
        at::Tensor good;         ///< (view, channel) bool: rows to measure
        at::Tensor ids;          ///< (view, channel) int32
        EveryChannel channels{}; ///< to measure, of those
    };
    /// Measure channels of one group of an event. Thread-safe, also during the other calls.
    /// @return by view; empty if the readout is too short
    std::vector<View> measure(const ViewGroup& group, const Waveforms& samples) const;

    /// Add the measurements of one group of an event.
    void add(const std::vector<View>& views);

    /// Run each comparison that has enough measurements and was not done before. Call after all groups of an
    /// event.
    /// @return one text per quantity outside its range
    std::vector<ErrorText> compare();

    /// Write the results of the comparisons into the planes of the report.
    void write_to(instrument::InputReport& report) const;

private:
    struct PlaneState {
        std::vector<double> noise;              ///< RMS [ADC], by channel
        std::vector<double> noise_ratio;        ///< RMS over the expected RMS, by channel
        std::vector<double> polarity;           ///< by pulse
        std::vector<std::vector<float>> shapes; ///< of the pulses, for the shaping time
        NoiseProducts products;
        std::size_t channels_with_pulses = 0;
        std::size_t lobes = 0, lobes_in_order = 0;
        bool noise_done = false, polarity_done = false, shaping_done = false;
        instrument::PlaneReport report;
    };

    /// Return the beginning of a hint that names the alternatives which fit noise and polarity of the anode's planes, as far
    /// as these are measured; empty if there is none, or if the described detector fits.
    std::string fitting_alternatives(int anode) const;
    void compare_noise(const InputCheck::Plane& plane, PlaneState& state, std::vector<ErrorText>& problems);
    void compare_polarity(const InputCheck::Plane& plane, PlaneState& state,
                          std::vector<ErrorText>& problems);
    void compare_shaping(const InputCheck::Plane& plane, PlaneState& state, std::vector<ErrorText>& problems);

    const InputCheck& m_check;
    const Depth m_depth;
    std::size_t m_min_channels, m_min_pulses; ///< for a comparison
    std::map<InputCheck::Plane, PlaneState> m_planes;
    int m_events = 0;
    bool m_finished = false;
};

} // namespace spng
