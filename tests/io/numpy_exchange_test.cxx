// SPDX-License-Identifier: Apache-2.0
// Exchange files with NumPy: read files that NumPy wrote, and let NumPy load files that we wrote.

#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include <sys/stat.h>

namespace {

using namespace spng::test;

/// Return the Python to run: the environment variable SPNG_PYTHON, else the one of the checkout, else
/// python3. Empty if it has no NumPy.
std::string python_with_numpy() {
    const char* given = std::getenv("SPNG_PYTHON");
    const auto own = repo_root() / ".venv/bin/python";
    const std::string python = given != nullptr               ? given
                               : std::filesystem::exists(own) ? own.string()
                                                              : "python3";
    return std::system(("'" + python + "' -c 'import numpy' 2>/dev/null").c_str()) == 0 ? python : "";
}

int run(const std::string& python, const std::filesystem::path& folder, const std::string& script) {
    write_file(folder / "script.py",
               "import numpy as np, os\nos.chdir('" + folder.string() + "')\n" + script);
    return std::system(("'" + python + "' '" + (folder / "script.py").string() + "'").c_str());
}

constexpr const char* arrays = R"(
frame = np.arange(6000, dtype='<i2').reshape(20, 300)
members = {'frame_*_0': frame, 'channels_*_0': np.arange(100, 120), 'tickinfo_*_0': np.array([-1.5, 500., 7.]),
           'chanmask_bad_0': np.array([[100, 0, 300]])}
members |= {'frame_*_1': np.asfortranarray(frame.astype('>f8')), 'channels_*_1': np.arange(100, 120, dtype='>u2'),
            'tickinfo_*_1': np.array([0, 500, 0])}
)";

void expect_both_events(const std::filesystem::path& path) {
    spng::FrameReader reader(path);
    const auto first = reader.next();
    const auto second = reader.next();
    ASSERT_TRUE(first && second) << path;
    EXPECT_FALSE(reader.next());
    const at::Tensor expected = at::arange(6000, at::kInt).view({20, 300});
    EXPECT_TRUE(first->traces.at(0).samples.equal(expected.to(at::kShort)));
    EXPECT_TRUE(second->traces.at(0).samples.equal(expected.to(at::kFloat)));
    EXPECT_EQ(first->traces[0].channels.at(19), 119);
    EXPECT_EQ(second->traces[0].channels.at(19), 119);
    EXPECT_EQ(first->traces[0].start_ns, -1.5);
    EXPECT_EQ(first->traces[0].first_tick, 7);
    EXPECT_EQ(first->channel_masks, (spng::ChannelMasks{{"bad", {{100, 0, 300}}}}));
}

} // namespace

TEST(NumpyExchange, ReadsFilesOfNumpy) {
    const std::string python = python_with_numpy();
    if (python.empty()) {
        GTEST_SKIP() << "no Python with NumPy; set SPNG_PYTHON";
    }
    const auto folder = temporary_folder("numpy-reads");
    // NumPy writes the third file to a pipe, so that the zip has sizes and checksums after the members.
    ASSERT_EQ(run(python, folder, std::string(arrays) + R"(
np.savez('stored.npz', **members)
np.savez_compressed('compressed.npz', **members)
class Pipe:
    def __init__(self): self.data = b''
    def write(self, block): self.data += bytes(block); return len(block)
    def read(self, *_): raise OSError
    def flush(self): pass
for name, write in ('stored', np.savez), ('compressed', np.savez_compressed):
    pipe = Pipe()
    write(pipe, **members)
    open(name + '-piped.npz', 'wb').write(pipe.data)
    assert pipe.data[6] & 8
)"),
              0);
    for (const std::string name : {"stored", "compressed", "compressed-piped", "stored-piped"}) {
        const auto file = folder / (name + ".npz");
        expect_both_events(file);
        const auto fifo = folder / (name + ".fifo");
        ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
        std::thread feeder([&] { std::ofstream(fifo, std::ios::binary) << read_file(file); });
        expect_both_events(fifo);
        feeder.join();
    }
}

TEST(NumpyExchange, NumpyLoadsOurFiles) {
    const std::string python = python_with_numpy();
    if (python.empty()) {
        GTEST_SKIP() << "no Python with NumPy; set SPNG_PYTHON";
    }
    const auto folder = temporary_folder("numpy-loads");
    spng::Frame frame;
    frame.ident = 2;
    frame.traces.push_back({.tag = "*",
                            .samples = at::arange(6000, at::kInt).to(at::kShort).view({20, 300}),
                            .channels = {},
                            .start_ns = -1.5,
                            .tick_ns = 500,
                            .first_tick = 7,
                            .summary = {}});
    for (int channel = 100; channel < 120; ++channel) {
        frame.traces[0].channels.push_back(channel);
    }
    frame.traces.push_back(frame.traces[0]);
    frame.traces[1].tag = "signal";
    frame.traces[1].samples = frame.traces[0].samples.to(at::kFloat).div(4);
    frame.traces[1].summary = at::arange(20, at::kDouble).div(8);
    frame.channel_masks["bad"] = {{100, 0, 300}};
    for (const std::string ending : all_endings) {
        spng::FrameWriter writer(folder / ("out" + ending));
        writer.write(frame);
        writer.close();
    }
    EXPECT_EQ(run(python, folder, R"(
import io, tarfile
expected = np.arange(6000).reshape(20, 300)
def tar(name):
    with tarfile.open(name) as archive:
        return {m.name[:-4]: np.load(io.BytesIO(archive.extractfile(m).read())) for m in archive.getmembers()}
for members in dict(np.load('out.npz')), tar('out.tar'), tar('out.tar.gz'), tar('out.tar.bz2'):
    assert list(members) == ['frame_*_2', 'channels_*_2', 'tickinfo_*_2', 'frame_signal_2', 'channels_signal_2',
                             'tickinfo_signal_2', 'summary_signal_2', 'chanmask_bad_2'], list(members)
    for name, type in {'frame_*_2': '<i2', 'channels_*_2': '<i4', 'tickinfo_*_2': '<f8', 'frame_signal_2': '<f4',
                       'summary_signal_2': '<f8', 'chanmask_bad_2': '<i4'}.items():
        assert members[name].dtype.str == type and members[name].flags.c_contiguous, name
    assert np.array_equal(members['frame_*_2'], expected)
    assert np.array_equal(members['frame_signal_2'], expected / 4)
    assert np.array_equal(members['channels_*_2'], np.arange(100, 120))
    assert np.array_equal(members['tickinfo_*_2'], [-1.5, 500, 7])
    assert np.array_equal(members['summary_signal_2'], np.arange(20) / 8)
    assert np.array_equal(members['chanmask_bad_2'], [[100, 0, 300]])
)"),
              0);
}
