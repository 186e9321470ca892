// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/anode_plane.h"

#include "spng/core/registry.h"
#include "spng/detector/anode.h"
#include "spng/detector/joined_anode.h"

namespace spng {
namespace {

const Registration<WireSchemaFile> file_registration{
    {.type = "WireSchemaFile", .kind = "service", .text = "wires of all anodes of a detector"}};
const Registration<AnodePlane> anode_registration{
    {.type = "AnodePlane", .kind = "service", .text = "wires and channels of one anode"}};

} // namespace

void WireSchemaFile::prepare(Environment&) {
    m_schema = load_wires(identify_file("wires"));
}

void AnodePlane::prepare(Environment& environment) {
    const auto& file = environment.service<WireSchemaFile>(config().wire_schema, at_key("wire_schema"));
    if (config().parts.empty()) {
        m_wires = &file.schema().anode(config().ident);
    } else {
        m_joined = joined_anode(file.schema(), config().ident, config().parts);
        m_wires = &m_joined;
    }
    m_notes = notes_of(*file.data_file());
    m_channels = anode_channels(*m_wires);
}

} // namespace spng
