// SPDX-License-Identifier: Apache-2.0
// The queue of a network on a server.

#include "spng/serve/network_model.h"

#include "tests/dnn/script_model.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

namespace spng {
namespace {

class NetworkModelTest : public testing::Test {
protected:
    /// Return the prepared service of a network that has one thread.
    const TorchService& service() {
        const auto file = test::temporary_folder("network_model") / "network.ts";
        test::save_weighted_sum(file, 1, 2, 4);
        m_components.add("SPNGTorchService:dnnroi", {{"model", file.string()}, {"probe", {1, 2, 2}}});
        return m_components.environment().service<TorchService>("SPNGTorchService:dnnroi", "test");
    }

    struct How {
        bool is_answered = false;
        bool keeps_thread = false; ///< in its completion, until m_go
    };
    std::future<ModelResult> send(NetworkModel& model, How how) {
        auto request = std::make_shared<kserve::InferRequest>();
        request->model = "network";
        request->inputs.push_back({.name = "features",
                                   .datatype = "FP32",
                                   .shape = {1, 3, 2, 2},
                                   .data = m_values.data(),
                                   .bytes = m_values.size() * sizeof(float)});
        const auto result = std::make_shared<std::promise<ModelResult>>();
        model.infer(std::move(request), std::make_shared<std::atomic<bool>>(how.is_answered),
                    [this, result, how](ModelResult value) {
                        result->set_value(std::move(value));
                        if (how.keeps_thread) {
                            m_may_go.wait();
                        }
                    });
        return result->get_future();
    }

    static bool is_success(std::future<ModelResult>& result) {
        return std::holds_alternative<kserve::InferResponse>(result.get().response);
    }
    static kserve::Status status(std::future<ModelResult>& result) {
        return std::get<kserve::Failure>(result.get().response).status;
    }

    std::promise<void> m_go;

private:
    const std::vector<float> m_values = std::vector<float>(12, 1.5F);
    std::shared_future<void> m_may_go = m_go.get_future().share();
    test::Components m_components;
};

TEST_F(NetworkModelTest, RejectsRequestsBeyondItsQueue) {
    NetworkModel model("network", service(), 1);
    auto first = send(model, {.keeps_thread = true});
    EXPECT_TRUE(is_success(first)); // it counts no more
    auto second = send(model, {}), third = send(model, {}), fourth = send(model, {});
    EXPECT_EQ(status(fourth), kserve::Status::overloaded);
    m_go.set_value();
    EXPECT_TRUE(is_success(second));
    EXPECT_TRUE(is_success(third));
}

TEST_F(NetworkModelTest, DoesNotRunRequestsThatAreAnswered) {
    NetworkModel model("network", service(), 4);
    auto skipped = send(model, {.is_answered = true}), run = send(model, {});
    EXPECT_EQ(status(skipped), kserve::Status::unavailable);
    EXPECT_TRUE(is_success(run));
}

} // namespace
} // namespace spng
