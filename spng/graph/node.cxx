// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/node.h"

#include "spng/device/context.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/graph/no_gradients.h"

namespace spng {
namespace {

#ifdef NDEBUG
class InputsUntouched {
public:
    explicit InputsUntouched(const Ports&) {}
    void check() const {}
};
#else
class InputsUntouched {
public:
    explicit InputsUntouched(const Ports& inputs) : m_inputs(inputs), m_versions(versions()) {}
    void check() const {
        if (versions() != m_versions) {
            throw Error(ErrorKind::Internal, {.what = "a node wrote into an input tensor",
                                              .seen = "a tensor version that changed during the call",
                                              .expected = "unchanged inputs",
                                              .hint = "use an out-of-place operation"});
        }
    }

private:
    std::vector<std::int64_t> versions() const {
        std::vector<std::int64_t> all;
        for (const auto& set : m_inputs) {
            for (const auto& tensor : set->tensors()) {
                const bool has_version = tensor.data.defined() && !tensor.data.is_inference();
                all.push_back(has_version ? static_cast<std::int64_t>(tensor.data._version()) : 0);
            }
        }
        return all;
    }
    const Ports& m_inputs;
    std::vector<std::int64_t> m_versions;
};
#endif

/// Run `work` and rethrow any exception as an Error that names `where`.
template <class Work>
auto with_readable_errors(const std::string& where, Work work) {
    try {
        return work();
    } catch (...) {
        rethrow_readable(where);
    }
}

} // namespace

Node::~Node() = default;

const ComponentType& Node::registered() const {
    return Registry::instance().find(name().type)->type;
}

std::vector<std::string> Node::input_ports() const {
    return registered().inputs;
}

std::vector<std::string> Node::output_ports() const {
    return registered().outputs;
}

void Node::prepare(Environment& environment) {
    m_context = &environment.service<Context>(context_name, name().text());
    m_meter = std::make_unique<instrument::NodeMeter>(
        instrument::NodeIdentity{name().type, name().instance, registered().kind});
    with_readable_errors(name().text(), [&] {
        prepare_node(environment);
        begin_run(environment);
    });
}

void Node::restart(Environment& environment) {
    m_meter->clear();
    with_readable_errors(name().text(), [&] { begin_run(environment); });
}

Ports Node::call(std::uint64_t event, const Ports& inputs, instrument::MeterMode mode) {
    return with_readable_errors(name().text() + ", event " + std::to_string(event), [&] {
        const NoGradients no_gradients;
        const InputsUntouched untouched(inputs);
        instrument::NodeMeter::Call metered(*m_meter, event, m_context->device(), mode);
        for (const auto& set : inputs) {
            metered.count_bytes_in(set->bytes());
        }
        Ports outputs = process(inputs);
        if (inputs.empty() && !outputs.empty() && outputs.front() == nullptr) {
            metered.discard(); // the call found the end of the stream
        }
        for (const auto& set : outputs) {
            metered.count_bytes_out(set ? set->bytes() : 0);
        }
        untouched.check();
        return outputs;
    });
}

} // namespace spng
