// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/response_components.h"

#include "spng/core/registry.h"
#include "spng/core/units.h"
#include "spng/detector/electronics/electronics_file.h"

namespace spng {
namespace {

const Registration<FieldResponseComponent> field_registration{
    {.type = "FieldResponse", .kind = "service", .text = "current on the wires from one drifting electron"}};
const Registration<ColdElecResponse> cold_registration{
    {.type = "ColdElecResponse", .kind = "service", .text = "response of preamplifier and shaper"}};
const Registration<WarmElecResponse> warm_registration{
    {.type = "WarmElecResponse",
     .kind = "service",
     .text = "response of preamplifier and shaper outside of the cryostat, as in ICARUS"}};
const Registration<JsonElecResponse> file_registration{
    {.type = "JsonElecResponse",
     .kind = "service",
     .text = "response of the electronics from a file of samples"}};

Electronics model(ElectronicsModel kind, const ElecModelConfig& config) {
    return {.model = kind,
            .gain = config.gain / (units::millivolt / units::femtocoulomb),
            .shaping = config.shaping,
            .postgain = config.postgain};
}

} // namespace

void FieldResponseComponent::prepare(Environment&) {
    m_response = load_field_response(identify_file("field"));
}

Electronics ColdElecResponse::electronics() const {
    return model(ElectronicsModel::cold, config());
}

Electronics WarmElecResponse::electronics() const {
    return model(ElectronicsModel::warm, config());
}

void JsonElecResponse::prepare(Environment&) {
    m_electronics = load_sampled_electronics(identify_file("electronics").path.string(), config().postgain);
}

double JsonElecResponse::duration() const {
    return m_electronics.times.back() * m_electronics.shaping;
}

} // namespace spng
