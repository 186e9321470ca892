// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/nodes/dnn/torch_service.h"
#include "spng/serve/served_model.h"

#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <string>

namespace spng {

/// The network of a job, for DNNROI in other processes: its input in, its output out, both as the network has them.
class NetworkModel final : public ServedModel {
public:
    /// @param service  prepared, with a network of this process; must live until all requests are done
    NetworkModel(std::string name, const TorchService& service);
    /// Wait for the requests that run.
    ~NetworkModel() override;
    const kserve::ModelDescription& description() const override { return m_description; }
    void infer(std::shared_ptr<const kserve::InferRequest> request, Done done) override;

private:
    const TorchService& m_service;
    kserve::ModelDescription m_description;
    std::unique_ptr<boost::asio::thread_pool> m_threads;
};

} // namespace spng
