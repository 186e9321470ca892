// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/section_ports.h"

#include "spng/core/tensor_visitor.h"
#include "spng/engine/body/output_template.h"
#include "spng/engine/body/port_key.h"
#include "spng/engine/body/static_inputs.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <functional>

namespace spng {
namespace {

/// One tensor with all members; made anew for each event, but for the ids of channels, which are made once.
struct Record {
    std::shared_ptr<EventInfo> event = std::make_shared<EventInfo>();
    NamedTensor tensor;
    ChannelTable table;

    explicit Record(Encoding encoding = {}) {
        static const at::Tensor ids = at::arange(2, at::kInt).view({1, 2});
        event->tick = 500;
        event->ticks = 8;
        tensor.name = "signal";
        tensor.data = at::rand({1, 2, 8});
        tensor.encoding = std::move(encoding);
        tensor.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 0, 500}};
        tensor.unit = "electrons";
        tensor.summary = at::rand({1, 2});
        tensor.pedestal = at::rand({1, 2});
        tensor.expected_noise = at::rand({1, 2});
        tensor.notes["model"] = "none";
        table.views = {"U"};
        table.planes = {0};
        table.ids = ids;
        table.good = at::ones({1, 2}, at::kBool);
        table.fault = at::zeros({1, 2}, at::kByte);
        table.bad_ticks = {{"chirp", 500, at::zeros({1, 2, 1, 2}, at::kInt)}};
    }

    Ports ports() const {
        NamedTensor with_table = tensor;
        with_table.channels = std::make_shared<const ChannelTable>(table);
        return {std::make_shared<const TensorSet>(event, std::vector{with_table})};
    }
};

/// A mask in which the first four of eight ticks are inside, for CompactedRows.
at::Tensor first_half() {
    return at::full({1, 2, 1}, 0xf, at::kLong);
}

SparseSamples sparse_samples() {
    return {2, 8, at::zeros({0, 3}, at::kInt), at::zeros({0})};
}

std::vector<Encoding> encodings() {
    return {DenseSamples{}, PackedMask{8}, CompactedRows{first_half(), 1}, sparse_samples()};
}

TEST(PortKey, DiffersWhenAnyMemberDiffers) {
    const at::Tensor other = at::rand({1, 2, 3});
    const std::vector<std::function<void(Record&)>> changes{
        [](Record&) {},
        [](Record& record) { record.tensor.name = "gauss"; },
        [&](Record& record) { record.tensor.data = other; },
        [](Record& record) { record.tensor.encoding = PackedMask{8}; },
        [](Record& record) { record.tensor.encoding = PackedMask{7}; },
        [](Record& record) { record.tensor.encoding = CompactedRows{first_half(), 1}; },
        [](Record& record) { record.tensor.encoding = CompactedRows{first_half(), 4}; },
        [&](Record& record) { record.tensor.encoding = CompactedRows{other, 1}; },
        [](Record& record) { record.tensor.encoding = sparse_samples(); },
        [](Record& record) { record.tensor.encoding = SparseSamples{2, 8, {}, {}}; },
        [](Record& record) { record.tensor.encoding = SparseSamples{1, 8, {}, {}}; },
        [](Record& record) { record.tensor.encoding = SparseSamples{2, 7, {}, {}}; },
        [](Record& record) { record.tensor.axes.pop_back(); },
        [](Record& record) { record.tensor.axes[0].name = "feature"; },
        [](Record& record) { record.tensor.axes[0].unit = "mm"; },
        [](Record& record) { record.tensor.axes[0].start = 3; },
        [](Record& record) { record.tensor.axes[2].start = 3; },
        [](Record& record) { record.tensor.axes[2].period = 2000; },
        [](Record& record) { record.tensor.unit = "ADC"; },
        [](Record& record) { record.tensor.domain = Domain::frequency; },
        [&](Record& record) { record.tensor.summary = other; },
        [](Record& record) { record.tensor.summary.reset(); },
        [](Record& record) { record.tensor.summary = record.tensor.pedestal; },
        [&](Record& record) { record.tensor.pedestal = other; },
        [&](Record& record) { record.tensor.expected_noise = other; },
        [](Record& record) { record.tensor.notes["model"] = "dnnroi.ts"; },
        [](Record& record) { record.table.views = {"V"}; },
        [](Record& record) { record.table.planes = {1}; },
        [](Record& record) { record.table.ids = record.table.ids.clone(); },
        [](Record& record) { record.table.first_row = 1; },
        [&](Record& record) { record.table.good = other; },
        [&](Record& record) { record.table.fault = other; },
        [](Record& record) { record.table.bad_ticks.clear(); },
        [](Record& record) { record.table.bad_ticks[0].mask = "pulse"; },
        [](Record& record) { record.table.bad_ticks[0].period = 512; },
        [&](Record& record) { record.table.bad_ticks[0].ticks = other; },
        [](Record& record) { record.event->window = ReadoutWindow{}; },
    };
    std::vector<std::string> keys;
    for (const auto& change : changes) {
        Record record, again;
        change(record);
        change(again);
        keys.push_back(port_key(record.ports()));
        if (record.table.ids.is_same(again.table.ids)) {
            EXPECT_EQ(keys.back(), port_key(again.ports())) << "change " << keys.size() - 1;
        }
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(keys[i], keys[j]) << "changes " << j << " and " << i;
        }
    }
}

/// Expect that tensors which can be on a device are equal copies, and those of the host the same objects.
template <class Members>
void expect_copies(const Members& given, const Members& seen) {
    std::vector<std::pair<at::Tensor, TensorRole>> originals;
    for_each_tensor(given,
                    [&](const at::Tensor& each, TensorRole role) { originals.emplace_back(each, role); });
    std::size_t next = 0;
    for_each_tensor(seen, [&](const at::Tensor& each, TensorRole role) {
        const auto& [original, original_role] = originals.at(next++);
        ASSERT_EQ(role, original_role);
        EXPECT_EQ(each.is_same(original), role == TensorRole::host);
        EXPECT_TRUE(each.sizes() == original.sizes() && each.scalar_type() == original.scalar_type());
        EXPECT_TRUE(role == TensorRole::samples || each.equal(original));
    });
    EXPECT_EQ(next, originals.size());
}

void expect_copies(const Ports& given, const Ports& seen) {
    expect_copies(given[0]->only(), seen[0]->only());
    expect_copies(*given[0]->only().channels, *seen[0]->only().channels);
    const at::Tensor original = given[0]->only().data, copy = seen[0]->only().data;
    if (given[0]->only().compacted()) { // what follows the samples inside the ROIs is undefined
        EXPECT_TRUE(copy.narrow(2, 0, 4).equal(original.narrow(2, 0, 4)));
        EXPECT_FALSE(copy.equal(original));
    } else {
        EXPECT_TRUE(copy.equal(original));
    }
}

TEST(StaticInputs, CopyEveryMember) {
    for (const Encoding& encoding : encodings()) {
        const Ports given = Record(encoding).ports();
        expect_copies(given, StaticInputs(given, at::kCPU).ports());
    }
}

TEST(StaticInputs, LoadEveryMember) {
    for (const Encoding& encoding : encodings()) {
        const Ports first = Record(encoding).ports(), second = Record(encoding).ports();
        ASSERT_EQ(port_key(first), port_key(second));
        StaticInputs inputs(first, at::kCPU);
        inputs.load(second);
        const std::vector<at::Tensor> given = tensors_of(second), seen = tensors_of(inputs.ports());
        ASSERT_EQ(given.size(), seen.size());
        for (std::size_t i = 0; i < given.size(); ++i) {
            EXPECT_TRUE(given[i].equal(seen[i])) << "tensor " << i;
        }
    }
}

TEST(OutputTemplate, CopiesEveryMember) {
    for (const Encoding& encoding : encodings()) {
        const Record input;
        Record output(encoding); // a table that a node made
        output.event = input.event;
        const Ports given = input.ports(), made = output.ports();
        const OutputTemplate outputs(given, made, {false});
        ASSERT_EQ(outputs.rejection(), "");
        expect_copies(made, outputs.fill(given));
    }
}

} // namespace
} // namespace spng
