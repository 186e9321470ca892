// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/response_components.h"

#include "spng/core/registry.h"
#include "spng/core/units.h"

namespace spng {
namespace {

const Registration<FieldResponseComponent> field_registration{
    {.type = "FieldResponse", .kind = "service", .text = "current on the wires from one drifting electron"}};
const Registration<ColdElecResponse> electronics_registration{
    {.type = "ColdElecResponse", .kind = "service", .text = "response of preamplifier and shaper"}};

} // namespace

void FieldResponseComponent::prepare(Environment&) {
    m_response = load_field_response(identify_file("field").path.string());
}

ColdElectronics ColdElecResponse::electronics() const {
    return {config().gain / (units::millivolt / units::femtocoulomb), config().shaping, config().postgain};
}

} // namespace spng
