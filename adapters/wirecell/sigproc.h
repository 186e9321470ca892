// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGSigProc: the chain as a frame filter of the Wire-Cell Toolkit (WCT), docs/wirecell-plugin.md.

#include "WireCellSpng/Pipeline.h"
#include "adapters/wirecell/keys.h"

#include "WireCellIface/IConfigurable.h"
#include "WireCellIface/IFrameFilter.h"
#include "WireCellIface/INamed.h"
#include "WireCellIface/ITerminal.h"

#include <memory>
#include <string>

namespace spng::wirecell {

/// In: a frame with ADC waveforms. Out: a frame with the tags of OmnibusSigProc. Errors are exceptions of WCT whose errmsg is
/// the error block of this project; after one the node can be used again.
class SigProc : public WireCell::IFrameFilter,
                public WireCell::IConfigurable,
                public WireCell::INamed,
                public WireCell::ITerminal {
public:
    ~SigProc() override;

    WireCell::Configuration default_configuration() const override;
    /// Make the pipeline: reads files and tries the network, about a second.
    /// @throws WireCell::Exception
    void configure(const WireCell::Configuration& config) override;

    /// @param in  null at the end of the stream, which is passed on
    /// @throws WireCell::Exception
    bool operator()(const input_pointer& in, output_pointer& out) override;

    void set_name(const std::string& name) override { m_name = name; }
    std::string get_name() const override { return m_name; }
    /// Free the pipeline.
    void finalize() override;

private:
    /// "SPNGSigProc:name", the location in errors
    std::string location() const;
    void make_pipeline(const WireCell::Configuration& config);
    std::shared_ptr<const WireCell::IFrame> process(const WireCell::IFrame& in) const;

    std::string m_name;
    SigProcKeys m_keys;
    std::shared_ptr<Pipeline> m_pipeline;
};

} // namespace spng::wirecell
