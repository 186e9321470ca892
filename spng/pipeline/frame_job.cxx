// SPDX-License-Identifier: Apache-2.0
#include "spng/pipeline/frame_job.h"

#include "spng/detector/view_groups.h"
#include "spng/nodes/frame/frame_to_torch_set_fanout.h"
#include "spng/nodes/frame/torch_tensor_set_to_frame_fanin.h"

#include <algorithm>
#include <map>
#include <utility>

namespace spng {
namespace {

/// Return the first node of a type; null if there is none.
template <class Node>
const Node* find_node(const Job& job) {
    for (const auto& vertex : job.graph().vertices()) {
        if (const auto* found = dynamic_cast<const Node*>(vertex.node)) {
            return found;
        }
    }
    return nullptr;
}

std::vector<PlaneChannels> planes_of(const ViewGroups& groups) {
    std::map<std::pair<int, int>, std::vector<int>> channels;
    for (const ViewGroup& group : groups.groups()) {
        for (std::size_t view = 0; view < group.views.size(); ++view) {
            auto& plane = channels[{group.anodes[view]->config().ident, group.views[view].plane}];
            const at::Tensor ids = group.ids[static_cast<std::int64_t>(view)].contiguous();
            const auto* id = ids.const_data_ptr<std::int32_t>();
            plane.insert(plane.end(), id, id + ids.numel());
        }
    }
    std::vector<PlaneChannels> planes;
    for (auto& [key, ids] : channels) {
        std::sort(ids.begin(), ids.end());
        planes.push_back({key.first, key.second, std::move(ids)});
    }
    return planes;
}

} // namespace

FrameJob::FrameJob(JobRequest request, std::size_t queue_size, int graph_threads)
    : m_job(std::move(request), queue_size, graph_threads) {
    const Job& job = m_job.job();
    if (const auto* fanout = find_node<FrameToTorchSetFanout>(job)) {
        m_expected = {fanout->config().intag, fanout->view_groups().channels(),
                      fanout->config().readout_period};
        m_planes = planes_of(fanout->view_groups());
    }
    if (const auto* fanin = find_node<TorchTensorSetToFrameFanin>(job)) {
        m_tags = fanin->config().tags;
    }
    for (const auto& device : job.devices()) {
        m_devices.push_back(device.str());
    }
}

} // namespace spng
