// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/depo_readout.h"

#include "spng/core/tensor_checks.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <limits>

namespace spng {
namespace {

/// Rows of depo_data.
struct DepositionRows {
    explicit DepositionRows(const at::Tensor& depositions)
        : count(depositions.size(1)), t(depositions.const_data_ptr<double>()), q(t + count), x(q + count),
          y(x + count), z(y + count), sigma_l(z + count), sigma_t(sigma_l + count) {}

    bool usable(std::int64_t i) const {
        return std::isfinite(t[i] + q[i] + x[i] + y[i] + z[i] + sigma_l[i] + sigma_t[i]) && sigma_l[i] >= 0 &&
               sigma_t[i] >= 0;
    }

    std::int64_t count;
    const double *t, *q, *x, *y, *z, *sigma_l, *sigma_t;
};

/// Return the index of the face with its response plane at x, the nearest of several, or -1.
int face_at(const std::vector<FaceAt>& faces, double x, Point2 position) {
    constexpr double tolerance = 1; // mm; positions may have been stored as float32
    int found = -1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t index = 0; index < faces.size(); ++index) {
        if (std::abs(x - faces[index].x) >= tolerance) {
            continue;
        }
        const double distance = faces[index].area.distance(position);
        if (found < 0 || distance < least) {
            found = static_cast<int>(index);
            least = distance;
        }
    }
    return found;
}

} // namespace

void DepoReadout::prepare(const DepoReadoutConfig& config, const AnodePlane& anode, std::int64_t gap) {
    m_config = &config;
    m_anode = &anode;
    std::vector<int> faces;
    for (const ResponsePlaneConfig& face : config.faces) {
        faces.push_back(face.face);
        m_faces.push_back({face.x, area_of(anode.wires().face(face.face))});
    }
    for (int plane = 0; plane < 3; ++plane) {
        m_planes.push_back(make_readout_plane(anode.wires(), faces, plane, anode.channels(), gap));
    }
    auto table = std::make_shared<ChannelTable>();
    table->ids = at::tensor(anode.channels(), at::kInt).unsqueeze(0);
    table->good = at::ones(table->ids.sizes(), at::kBool);
    m_channels = std::move(table);
}

ChargeSpots DepoReadout::spots(const at::Tensor& depositions, const ReadoutPlane& plane) const {
    const at::Tensor contiguous = depositions.contiguous();
    const DepositionRows rows(contiguous);
    ChargeSpots spots;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const int face = face_at(m_faces, rows.x[i], {rows.y[i], rows.z[i]});
        if (face < 0 || !rows.usable(i)) {
            continue;
        }
        const ReadoutPlane::Block& block = plane.blocks[static_cast<std::size_t>(face)];
        const double wire = block.wires->wire_coordinate({rows.y[i], rows.z[i]});
        // Charge farther than this from the wires of its face could reach the wires of another face.
        const double sigma = rows.sigma_t[i] / block.wires->pitch;
        const double margin = m_config->nsigma * sigma + 1;
        if (wire < -margin || wire > block.wires->size() + margin) {
            continue;
        }
        spots.wire.push_back(wire + static_cast<double>(block.first));
        spots.wire_sigma.push_back(sigma);
        spots.tick.push_back((rows.t[i] - m_config->start) / m_config->tick);
        spots.tick_sigma.push_back(rows.sigma_l[i] / m_config->drift_speed / m_config->tick);
        spots.electrons.push_back(std::abs(rows.q[i]));
    }
    return spots;
}

std::int64_t DepoReadout::count_dropped(const at::Tensor& depositions) const {
    const at::Tensor contiguous = depositions.contiguous();
    const DepositionRows rows(contiguous);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        count += face_at(m_faces, rows.x[i], {rows.y[i], rows.z[i]}) < 0 || !rows.usable(i) ? 1 : 0;
    }
    return count;
}

std::shared_ptr<const EventInfo> DepoReadout::event(const EventInfo& of_depositions) const {
    auto event = std::make_shared<EventInfo>();
    event->index = of_depositions.index;
    event->ident = of_depositions.ident;
    event->start = m_config->start;
    event->tick = m_config->tick;
    event->ticks = m_config->nticks;
    return event;
}

NamedTensor DepoReadout::frame_tensor(std::string name, at::Tensor data, std::string unit) const {
    NamedTensor tensor;
    tensor.name = std::move(name);
    tensor.data = std::move(data);
    tensor.axes = {{"channel", "", 0, 1}, {"tick", "ns", m_config->start, m_config->tick}};
    tensor.unit = std::move(unit);
    tensor.channels = m_channels;
    tensor.notes = m_anode->notes();
    return tensor;
}

const at::Tensor& depositions_of(const TensorSet& set) {
    const NamedTensor* found = set.find("depo_data");
    const bool fits = found != nullptr && found->data.scalar_type() == at::kDouble && found->data.is_cpu() &&
                      found->data.dim() == 2 && found->data.size(0) == 7;
    if (!fits) {
        throw Error(ErrorKind::Input,
                    {.what = "the set holds no depositions to simulate",
                     .seen = found == nullptr ? "no tensor depo_data" : describe_tensor(found->data),
                     .expected = "depo_data, float64 (7, deposition) on the host",
                     .hint = "connect the node to a source of depositions or a drifter"});
    }
    return found->data;
}

} // namespace spng
