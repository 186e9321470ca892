// SPDX-License-Identifier: Apache-2.0
#pragma once
// Components of a small job on the CPU.

#include "spng/core/error.h"
#include "spng/core/registry.h"

#include <gtest/gtest.h>

#include <string>

namespace spng::test {

class Components {
public:
    Components() { add("SPNGContext", {{"device", "cpu"}}); }

    Component& add(const std::string& name, const nlohmann::json& data) {
        auto component = Registry::instance().make(ComponentName::from(name));
        component->configure(data);
        m_environment.add(std::move(component));
        return *m_environment.find(name);
    }
    Environment& environment() { return m_environment; }

private:
    Environment m_environment;
};

/// Return the Error that `work` throws. Fail the test if it throws none.
template <class Work>
Error error_of(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {ErrorKind::Internal,
            {.what = "nothing was thrown", .where = {}, .seen = {}, .expected = {}, .hint = {}}};
}

} // namespace spng::test
