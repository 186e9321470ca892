// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/watch/noise_watch.h"

#include "spng/core/error.h"
#include "spng/core/log/input_warning.h"
#include "spng/core/log/log.h"
#include "spng/core/unit_text.h"

#include <cmath>
#include <utility>

namespace spng {
namespace {

double value_at(const at::Tensor& ratio, std::int64_t view) {
    const std::int64_t index = view * ratio.stride(0);
    return ratio.scalar_type() == at::kFloat ? ratio.const_data_ptr<float>()[index]
                                             : ratio.const_data_ptr<double>()[index];
}

} // namespace

NoiseWatch::NoiseWatch(std::string logger, std::string model, std::string image, TrainingNoise training)
    : m_logger(std::move(logger)), m_model(std::move(model)), m_image(std::move(image)),
      m_training(std::move(training)) {}

Notes NoiseWatch::observe(const at::Tensor& ratio, const std::vector<View>& views) {
    std::string text;
    Notes notes;
    const std::lock_guard lock(m_mutex);
    for (std::size_t i = 0; i < views.size(); ++i) {
        const double own = value_at(ratio, static_cast<std::int64_t>(i));
        if (!std::isnan(own)) {
            text += (text.empty() ? "" : ", ") + views[i].name + " " + format_fixed(own, 2);
            add(views[i], own, notes);
        }
    }
    if (!text.empty()) {
        notes["network_noise"] = text + " times the noise of the training; tried: " + tried();
    }
    return notes;
}

std::string NoiseWatch::tried() const {
    return format_fixed(m_training.low, 2) + " to " + format_fixed(m_training.high, 2) + " times";
}

void NoiseWatch::add(const View& view, double ratio, Notes& notes) {
    const instrument::NetworkNoise own{.node = m_logger,
                                       .view = view.name,
                                       .lowest = ratio,
                                       .highest = ratio,
                                       .min_tried = m_training.low,
                                       .max_tried = m_training.high,
                                       .events = 1};
    const auto [found, is_first] = m_noise.try_emplace(view.name, own);
    const bool was_warned = !is_first && !found->second.fits();
    if (!is_first) {
        found->second.join(own);
    }
    if (own.fits()) {
        return;
    }
    const double training = m_training.planes.at(m_image).at(view.plane);
    const ErrorText text{.what = "the noise does not fit the network",
                         .where = "view " + view.name,
                         .seen = format_fixed(ratio * training, 0) + " electrons, " + format_fixed(ratio, 2) +
                                 " times the " + format_fixed(training, 0) +
                                 " electrons of the training of " + m_model,
                         .expected = tried(),
                         .hint = "compare its ROIs with those of -A model=none"};
    if (is_strict() || !was_warned) {
        m_warnings.push_back(warn_about_input(m_logger, text));
    }
    merge_notes(notes, {{"warnings", input_warning_line(text)}});
}

void NoiseWatch::report() {
    const std::lock_guard lock(m_mutex);
    for (const auto& [name, noise] : m_noise) {
        log::info(m_logger, [&] {
            return "view " + name + ": noise " + format_fixed(noise.lowest, 2) + " to " +
                   format_fixed(noise.highest, 2) +
                   " times the training noise, events: " + std::to_string(noise.events);
        });
    }
}

std::vector<std::string> NoiseWatch::warnings() const {
    const std::lock_guard lock(m_mutex);
    return m_warnings;
}

std::vector<instrument::NetworkNoise> NoiseWatch::network_noise() const {
    const std::lock_guard lock(m_mutex);
    std::vector<instrument::NetworkNoise> views;
    for (const auto& [name, noise] : m_noise) {
        views.push_back(noise);
    }
    return views;
}

} // namespace spng
