// SPDX-License-Identifier: Apache-2.0
// Checks of depositions, and arrays of WCT's deposition files.

#include "spng/nodes/sim/depos/depositions.h"

#include "spng/core/error.h"
#include "spng/io/archive/archive_writer.h"
#include "spng/nodes/sim/depos/depo_reader.h"
#include "tests/support/paths.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

namespace spng {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Return depositions with column i: t = i, q = charges[i], x = 10 i, y = 20 i, z = 30 i, no spread, id = i.
Depositions columns(const std::vector<double>& charges) {
    const auto n = static_cast<std::int64_t>(charges.size());
    at::Tensor data = at::zeros({depo_row::count, n}, at::kDouble);
    at::Tensor info = at::zeros({depo_info_row::count, n}, at::kInt);
    const at::Tensor index = at::arange(n, at::kDouble);
    data[depo_row::time] = index;
    data[depo_row::charge] = at::tensor(charges, at::kDouble);
    data[depo_row::x] = 10 * index;
    data[depo_row::y] = 20 * index;
    data[depo_row::z] = 30 * index;
    info[depo_info_row::id] = index.to(at::kInt);
    return {data, info};
}

std::vector<int> ids(const Depositions& depositions) {
    const at::Tensor row = depositions.info[depo_info_row::id].contiguous();
    return {row.const_data_ptr<int>(), row.const_data_ptr<int>() + row.numel()};
}

std::vector<double> row_of(const Depositions& depositions, std::int64_t row) {
    const at::Tensor values = depositions.data[row].contiguous();
    return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

TEST(Depositions, ValidOnesPassUnchanged) {
    const Depositions good = columns({-1, -2, -3});
    const CheckedDepositions checked = checked_depositions(good);
    EXPECT_TRUE(checked.depositions.data.is_same(good.data));
    EXPECT_EQ(checked.faults.dropped(), 0);
    EXPECT_FALSE(checked.faults.sign_flipped);
    EXPECT_EQ(checked.faults.text(), "");
}

TEST(Depositions, EachFaultIsCountedOnceAndDropped) {
    Depositions mixed = columns({-5, nan, 0, 7, -5, -5, -5, infinity, -5});
    mixed.data[depo_row::sigma_long][4] = -1e-3;
    mixed.data[depo_row::y][5] = nan;
    mixed.data[depo_row::sigma_tran][5] = -1; // counted for its NaN
    const CheckedDepositions checked = checked_depositions(mixed);
    EXPECT_EQ(checked.faults.not_finite, 3);
    EXPECT_EQ(checked.faults.no_charge, 1);
    EXPECT_EQ(checked.faults.wrong_sign, 1);
    EXPECT_EQ(checked.faults.negative_spread, 1);
    EXPECT_EQ(ids(checked.depositions), (std::vector<int>{0, 6, 8}));
    EXPECT_EQ(checked.faults.text(),
              "3 not finite, 1 without charge, 1 with charge of the opposite sign, 1 with negative spread");
}

TEST(Depositions, ThoseBeyondAnyDetectorAreDropped) {
    Depositions mixed = columns({-5, -5, -5, -1e300, -5, -5});
    mixed.data[depo_row::sigma_tran][0] = 1e7; // a Gaussian of this width once took 9 GB
    mixed.data[depo_row::time][1] = -1e300;
    mixed.data[depo_row::z][2] = 1e12;
    mixed.data[depo_row::sigma_long][4] = 100;
    const CheckedDepositions checked = checked_depositions(mixed);
    EXPECT_EQ(checked.faults.implausible, 4);
    EXPECT_EQ(ids(checked.depositions), (std::vector<int>{4, 5}));
    EXPECT_EQ(checked.faults.text(), "4 beyond any detector");
}

TEST(Depositions, PositiveChargesAreNumbersOfElectrons) {
    const Depositions positive = columns({5, -1, 6});
    const CheckedDepositions checked = checked_depositions(positive);
    EXPECT_TRUE(checked.faults.sign_flipped);
    EXPECT_EQ(checked.faults.wrong_sign, 1);
    EXPECT_EQ(row_of(checked.depositions, depo_row::charge), (std::vector<double>{-5, -6}));
    EXPECT_EQ(row_of(positive, depo_row::charge), (std::vector<double>{5, -1, 6}))
        << "the input was written to";
}

TEST(Depositions, EmptyListIsValid) {
    const CheckedDepositions checked = checked_depositions(no_depositions());
    EXPECT_EQ(checked.depositions.count(), 0);
    EXPECT_EQ(checked.faults.dropped(), 0);
    EXPECT_EQ(sorted_by_time(no_depositions()).count(), 0);
}

TEST(Depositions, EqualTimesKeepTheirOrder) {
    Depositions unsorted = columns({-1, -1, -1, -1});
    unsorted.data[depo_row::time] = at::tensor({2.0, 1.0, 2.0, 1.0}, at::kDouble);
    EXPECT_EQ(ids(sorted_by_time(unsorted)), (std::vector<int>{1, 3, 0, 2}));
}

TEST(Depositions, AnotherShapeIsAnInternalError) {
    EXPECT_THROW(checked_depositions({at::zeros({3, 7}, at::kDouble), at::zeros({4, 3}, at::kInt)}), Error);
    EXPECT_THROW(checked_depositions({at::zeros({7, 3}), at::zeros({4, 3}, at::kInt)}), Error);
    EXPECT_THROW(checked_depositions({at::zeros({7, 3}, at::kDouble), at::zeros({4, 2}, at::kInt)}), Error);
}

TEST(DepoReader, BothOrientationsAlsoForSquareArrays) {
    for (const std::int64_t n : {0, 3, 4, 7}) {
        const Depositions expected = columns(std::vector<double>(static_cast<std::size_t>(n), -2));
        const at::Tensor data = expected.data.to(at::kFloat);
        for (const bool by_rows : {true, false}) {
            const Depositions seen = depositions_from_arrays(
                by_rows ? data : data.t(), by_rows ? expected.info : expected.info.t(), "here");
            EXPECT_TRUE(at::equal(seen.data, expected.data)) << n << by_rows;
            EXPECT_TRUE(at::equal(seen.info, expected.info)) << n << by_rows;
        }
    }
}

TEST(DepoReader, ShapesThatDoNotFitAreRejected) {
    const auto rejected = [](at::IntArrayRef data, at::IntArrayRef info) {
        EXPECT_THROW(depositions_from_arrays(at::zeros(data), at::zeros(info, at::kInt), "here"), Error)
            << data << info;
    };
    rejected({7}, {4});
    rejected({6, 10}, {4, 10});
    rejected({7, 10}, {4, 9});
    rejected({7, 10}, {10, 4}); // rows in one array, columns in the other
    rejected({7, 10}, {5, 10});
    rejected({1, 7, 10}, {4, 10});
    EXPECT_THROW(
        depositions_from_arrays(at::zeros({7, 1}), at::tensor({0.5, 0.0, 0.0, 0.0}).view({4, 1}), "here"),
        Error);
}

class DepoFiles : public testing::Test {
protected:
    std::filesystem::path m_path = test::temporary_folder("depo-files") / "depos.npz";
    Depositions m_two = columns({-1, -2});

    void write(const std::vector<std::pair<std::string, at::Tensor>>& members) const {
        ArchiveWriter archive(m_path);
        for (const auto& [name, tensor] : members) {
            archive.add(name, tensor);
        }
        archive.mark_worth_keeping();
        archive.close();
    }
};

TEST_F(DepoFiles, AnEventIsReadWithBothArrays) {
    write({{"depo_data_5.npy", m_two.data},
           {"depo_data_2.npy", columns({-3}).data},
           {"track_info_5.npy", at::zeros({3})},
           {"depo_info_2.npy", columns({-3}).info},
           {"depo_info_5.npy", m_two.info}});
    DepoReader reader(m_path);
    const auto first = reader.next(), second = reader.next();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->ident, 2);
    EXPECT_EQ(second->ident, 5);
    EXPECT_TRUE(at::equal(second->depositions.data, m_two.data));
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.other_members(), std::vector<std::string>{"track_info_5.npy"});
}

TEST_F(DepoFiles, AncestorsAreIgnored) {
    Depositions drifted = columns({-1, -2, -3, -4});
    drifted.info[depo_info_row::generation] = at::tensor({0, 1, 0, 2}, at::kInt);
    write({{"depo_data_0.npy", drifted.data}, {"depo_info_0.npy", drifted.info}});
    const auto event = DepoReader(m_path).next();
    ASSERT_TRUE(event);
    EXPECT_EQ(ids(event->depositions), (std::vector<int>{0, 2}));
    EXPECT_EQ(event->ancestors, 2);
}

TEST_F(DepoFiles, AMissingArrayIsAnErrorOfItsEventOnly) {
    write({{"depo_data_0.npy", m_two.data},
           {"depo_data_1.npy", m_two.data},
           {"depo_info_1.npy", m_two.info},
           {"depo_info_2.npy", m_two.info}});
    DepoReader reader(m_path);
    EXPECT_EQ(reader.next()->ident, 1);
    for (const char* missing : {"depo_info_0.npy is missing", "depo_data_2.npy is missing"}) {
        try {
            reader.next();
            FAIL() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Input);
            EXPECT_EQ(error.text().seen, missing);
        }
    }
    EXPECT_FALSE(reader.next());
}

TEST_F(DepoFiles, RejectsARepeatedEventAndContinues) {
    write({{"depo_data_0.npy", m_two.data},
           {"depo_info_0.npy", m_two.info},
           {"depo_data_0.npy", m_two.data},
           {"depo_data_1.npy", m_two.data},
           {"depo_info_1.npy", m_two.info}});
    DepoReader reader(m_path);
    EXPECT_EQ(reader.next()->ident, 0);
    EXPECT_THROW(reader.next(), Error);
    EXPECT_EQ(reader.next()->ident, 1);
    EXPECT_FALSE(reader.next());
}

} // namespace
} // namespace spng
