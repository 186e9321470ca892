// SPDX-License-Identifier: Apache-2.0
#pragma once
// Components for the wires of a detector: the wire file, and one anode of it.

#include "spng/core/component.h"
#include "spng/detector/wires.h"
#include "spng/io/data_file_reader.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct WireSchemaFileConfig {
    std::string filename;
    std::string source;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&WireSchemaFileConfig::filename, "filename", "", required(),
                  "wire schema file (.json, .json.bz2, .json.gz), found on the data path"),
            field(&WireSchemaFileConfig::source, "source", "", any(),
                  "public repository of the file, for the error if it is not found; empty: unknown"));
    }
};

/// Reads the file once for all anodes.
class WireSchemaFile : public ServiceWith<WireSchemaFileConfig>, public DataFileReader {
public:
    void prepare(Environment& environment) override;
    const WireSchema& schema() const { return m_schema; }

private:
    const std::string& data_file_name() const override { return config().filename; }
    std::string data_file_source() const override { return config().source; }

    WireSchema m_schema;
};

struct AnodePlaneConfig {
    int ident = 0;
    std::vector<int> parts;
    std::string wire_schema = "WireSchemaFile";
    static constexpr auto fields() {
        return std::make_tuple(
            field(&AnodePlaneConfig::ident, "ident", "", at_least(0), "id of the anode in the wire file"),
            field(&AnodePlaneConfig::parts, "parts", "", at_least(0),
                  "ids of the anodes in the wire file that are the faces of this anode; empty: one, `ident`"),
            field(&AnodePlaneConfig::wire_schema, "wire_schema", "", not_empty(),
                  "name of the WireSchemaFile component"));
    }
};

class AnodePlane : public ServiceWith<AnodePlaneConfig> {
public:
    /// @throws Error(Configuration) if the file has no such anode, or the parts cannot be joined (joined_anode.h)
    void prepare(Environment& environment) override;
    const WireAnode& wires() const { return *m_wires; }
    /// Return the channels, ascending: the order of rows in output frames.
    const std::vector<int>& channels() const { return m_channels; }
    /// Return the provenance of the wire file, for the output.
    const Notes& notes() const { return m_notes; }

private:
    const WireAnode* m_wires = nullptr;
    WireAnode m_joined; ///< of the parts
    std::vector<int> m_channels;
    Notes m_notes;
};

} // namespace spng
