// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/torch_script_model.h"

#include "spng/nodes/dnn/model_archive.h"
#include "tests/dnn/script_model.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <fstream>

namespace spng {
namespace test {

void save_script_model(const std::filesystem::path& file, const std::string& source,
                       const std::map<std::string, at::Tensor>& buffers, const std::string& metadata) {
    torch::jit::Module module("network");
    for (const auto& [name, value] : buffers) {
        module.register_buffer(name, value);
    }
    module.define(source);
    torch::jit::ExtraFilesMap extra;
    if (!metadata.empty()) {
        extra["metadata.json"] = metadata;
    }
    module.save(file.string(), extra);
}

void save_weighted_sum(const std::filesystem::path& file, float first, float second, float third,
                       const std::string& metadata) {
    save_script_model(file, "def forward(self, x):\n    return torch.conv2d(x, self.weight)\n",
                      {{"weight", at::tensor({first, second, third}).view({1, 3, 1, 1})}}, metadata);
}

} // namespace test

namespace {

class TorchScriptModelTest : public testing::Test {
protected:
    std::filesystem::path file() const { return m_folder / "network.ts"; }

    Error load_error() const {
        return error_of([&] { load_torch_script(file(), c10::kCPU); });
    }
    Error forward_error(const at::Tensor& input) const {
        const auto model = load_torch_script(file(), c10::kCPU);
        return error_of([&] { model->forward(input); });
    }
    /// Check that the error has the kind Model and names the file.
    template <class Work>
    Error error_of(Work work) const {
        const Error error = test::error_of(work);
        EXPECT_EQ(error.kind(), ErrorKind::Model);
        EXPECT_NE(error.text().where.find(file().string()), std::string::npos) << error.what();
        EXPECT_EQ(std::string(error.what()).find("Exception raised from"), std::string::npos);
        return error;
    }

private:
    std::filesystem::path m_folder = test::temporary_folder("torch_script_model");
};

TEST_F(TorchScriptModelTest, ComputesItsSource) {
    test::save_weighted_sum(file(), 2, 0.5, -1);
    const auto model = load_torch_script(file(), c10::kCPU);
    const auto input = at::arange(12, at::kFloat).view({1, 3, 2, 2});
    // 2 a + (a + 4) / 2 - (a + 8) for a = 0, 1, 2, 3
    const auto expected = at::tensor({-6.F, -4.5F, -3.F, -1.5F}).view({1, 1, 2, 2});
    for (int call = 0; call < 4; ++call) { // TorchScript would optimise after the second call
        EXPECT_TRUE(at::equal(model->forward(input), expected)) << "call " << call;
    }
}

TEST_F(TorchScriptModelTest, ReadsItsMetadata) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"inputs": ["x", "y", "z"], "halo": 7, "stand_in": true})");
    const auto model = load_torch_script(file(), c10::kCPU);
    EXPECT_EQ(model->metadata().inputs, (std::vector<std::string>{"x", "y", "z"}));
    EXPECT_EQ(model->metadata().halo, 7);
    EXPECT_TRUE(model->metadata().stand_in);
    EXPECT_EQ(model->file(), file().string());
}

TEST_F(TorchScriptModelTest, MetadataAreReadWithoutLoading) {
    const std::string text = R"({"inputs": ["x", "y", "z"]})";
    test::save_weighted_sum(file(), 1, 1, 1, text);
    EXPECT_EQ(torch_script_metadata(file()), text);
    std::filesystem::resize_file(file(), 40);
    EXPECT_EQ(torch_script_metadata(file()), "");
    test::save_weighted_sum(file(), 1, 1, 1);
    EXPECT_EQ(torch_script_metadata(file()), "");
    EXPECT_EQ(torch_script_metadata(file().parent_path()), "");
}

TEST_F(TorchScriptModelTest, MissingFile) {
    EXPECT_NE(load_error().text().seen.find("No such file"), std::string::npos);
}

TEST_F(TorchScriptModelTest, TruncatedAtAnyPoint) {
    test::save_weighted_sum(file(), 1, 1, 1);
    for (auto size = std::filesystem::file_size(file()) - 1; size > 0; size = size / 2) {
        std::filesystem::resize_file(file(), size);
        EXPECT_NE(load_error().text().seen.find(std::to_string(size) + " bytes"), std::string::npos);
    }
    std::filesystem::resize_file(file(), 0);
    load_error();
}

/// Flip single bits all over the file: the network gives the same result, or an error names the damage.
TEST_F(TorchScriptModelTest, DamagedAtAnyBit) {
    test::save_weighted_sum(file(), 2, 0.5, -1, R"({"inputs": ["x", "y", "z"], "scale": 0.25})");
    std::ifstream stream(file(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    const auto input = at::arange(12, at::kFloat).view({1, 3, 2, 2});
    const auto original = load_torch_script(file(), c10::kCPU);
    const auto expected = original->forward(input);
    constexpr std::size_t stride = 29; // coprime to 8, so that every bit of a byte occurs
    int same = 0, rejected = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); bit += stride) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
        std::ofstream(file(), std::ios::binary) << damaged;
        try {
            const auto model = load_torch_script(file(), c10::kCPU);
            EXPECT_EQ(model->metadata().text, original->metadata().text) << "bit " << bit;
            EXPECT_TRUE(at::equal(model->forward(input), expected)) << "bit " << bit;
            ++same;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Model) << "bit " << bit << "\n" << error.what();
            EXPECT_NE(error.text().where.find(file().string()), std::string::npos) << error.what();
            ++rejected;
        }
    }
    EXPECT_GT(same, 50) << "padding and time stamps have no effect";
    EXPECT_GT(rejected, 200);
}

TEST_F(TorchScriptModelTest, DamagedMemberIsNamedWithBothChecksums) {
    std::filesystem::copy_file(test::repo_root() / "data" / "dnnroi.ts", file());
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    constexpr std::streamoff position = 109155; // in the weights of a convolution
    stream.seekg(position);
    const int byte = stream.get();
    stream.seekp(position);
    stream.put(static_cast<char>(byte ^ 1 << 6));
    stream.close();
    const Error error = load_error();
    EXPECT_NE(error.text().where.find("network.ts, member "), std::string::npos) << error.what();
    EXPECT_NE(error.text().seen.find("content with CRC-32 0x"), std::string::npos) << error.what();
    EXPECT_NE(error.text().seen.find(" where its header lists 0x"), std::string::npos) << error.what();
}

TEST_F(TorchScriptModelTest, CodeThatOpensFilesIsNotRun) {
    const auto written = file().parent_path() / "written.bin";
    for (const std::string& code :
         {"    return torch.from_file('" + written.string() + "', True, 16)\n",
          "    y = torch . from_file('" + written.string() + "', True, 16)\n    return x + y[0] * 0\n",
          "    torch.save(x, '" + written.string() + "')\n    return x\n"}) {
        test::save_script_model(file(), "def forward(self, x):\n" + code);
        const Error seen = load_error();
        EXPECT_EQ(seen.text().what, "the code of a network opens files") << code;
        EXPECT_NE(seen.text().where.find("member code/"), std::string::npos) << seen.what();
        EXPECT_FALSE(std::filesystem::exists(written)) << code;
    }
}

TEST_F(TorchScriptModelTest, SomethingElse) {
    std::ofstream(file()) << "PNG or whatever";
    load_error();
}

TEST_F(TorchScriptModelTest, DamagedMetadata) {
    test::save_weighted_sum(file(), 1, 1, 1, "{");
    load_error();
}

TEST_F(TorchScriptModelTest, WrongNumberOfFeatures) {
    test::save_weighted_sum(file(), 1, 1, 1);
    const auto error = forward_error(at::zeros({1, 2, 4, 4}));
    EXPECT_NE(error.text().seen.find("to have 3 channels, but got 2 channels"), std::string::npos)
        << error.what();
    EXPECT_NE(error.text().expected.find("(1, 2, 4, 4)"), std::string::npos) << error.what();
}

TEST_F(TorchScriptModelTest, OutputIsNotATensor) {
    test::save_script_model(file(), "def forward(self, x):\n    return [x, x]\n");
    EXPECT_NE(forward_error(at::zeros({1, 3, 4, 4})).text().seen.find("List"), std::string::npos);
}

TEST_F(TorchScriptModelTest, MadeForCudaOnAMachineWithoutCuda) {
    test::save_script_model(
        file(), "def forward(self, x):\n    return x + torch.ones([1], device=torch.device('cuda'))\n");
    const auto error = error_of([&] {
        const auto model = load_torch_script(file(), c10::kCPU);
        model->forward(at::zeros({1, 3, 4, 4}));
    });
    EXPECT_NE(std::string(error.what()).find("CUDA"), std::string::npos) << error.what();
}

TEST_F(TorchScriptModelTest, OutOfMemoryInsideIsRecognised) {
    test::save_script_model(file(),
                            "def forward(self, x):\n"
                            "    assert x.size(3) <= 4, 'CUDA out of memory. Tried to allocate 1 GiB'\n"
                            "    return x\n");
    const auto model = load_torch_script(file(), c10::kCPU);
    EXPECT_THROW(model->forward(at::zeros({1, 3, 4, 8})), ModelOutOfMemory);
    EXPECT_NO_THROW(model->forward(at::zeros({1, 3, 4, 4})));
}

TEST_F(TorchScriptModelTest, MissingHostMemoryIsRecognised) {
    test::save_script_model(file(), "def forward(self, x):\n    return torch.empty([1 << 60])\n");
    const auto model = load_torch_script(file(), c10::kCPU);
    EXPECT_THROW(model->forward(at::zeros({1, 3, 4, 4})), ModelOutOfMemory);
}

} // namespace
} // namespace spng
