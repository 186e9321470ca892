// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/driver/campaign.h"

#include "tests/fuzz/driver/input_file.h"
#include "tests/fuzz/driver/inputs.h"
#include "tests/fuzz/driver/run_input.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace spng::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int defect_status = 3;
constexpr std::size_t max_failures = 100; // children that end early
constexpr std::size_t max_shared_results = 8192;
constexpr std::uint64_t inputs_of_a_child = 20000;

/// Memory that parent and child share: it survives the end of the child.
struct Shared {
    std::uint64_t next;      ///< index of the input after the running one
    std::uint64_t end;       ///< of this child
    std::int64_t peak_bytes; ///< of all inputs
    bool done;
    std::size_t results;
    std::array<std::uint64_t, max_shared_results> result_hashes;
    std::array<char, 1024> reason; ///< of a defect
    std::size_t input_bytes;
    std::array<char, std::size_t{4} << 20> input;

    /// @return whether the result is new
    bool add(const std::string& result) {
        const std::uint64_t hash = std::hash<std::string>()(result);
        const auto end_of_known = result_hashes.begin() + static_cast<std::ptrdiff_t>(results);
        if (std::find(result_hashes.begin(), end_of_known, hash) != end_of_known ||
            results == result_hashes.size()) {
            return false;
        }
        result_hashes[results++] = hash;
        return true;
    }
};

Shared& make_shared_memory() {
    void* const memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("no shared memory");
    }
    return *new (memory) Shared();
}

/// Return the files of a folder in the order of their names.
std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> seeds_in(const fs::path& corpus) {
    std::vector<std::string> seeds;
    for (const fs::path& file : files_in(corpus)) {
        seeds.push_back(read_file(file));
    }
    return seeds;
}

/// Files by which a child hands its new seeds to the next children, also if it crashes.
class NewSeeds {
public:
    explicit NewSeeds(fs::path folder) : m_folder(std::move(folder)) { fs::create_directory(m_folder); }

    void put(std::uint64_t index, const std::string& bytes) const {
        std::array<char, 24> name{};
        std::snprintf(name.data(), name.size(), "%020llu", static_cast<unsigned long long>(index));
        write_file(m_folder / name.data(), bytes);
    }

    /// Move the seeds into the inputs, in the order of their indices.
    void take(Inputs& inputs) const {
        for (const fs::path& file : files_in(m_folder)) {
            inputs.add_seed(read_file(file));
            fs::remove(file);
        }
    }

private:
    fs::path m_folder;
};

/// Run inputs until the end of this child.
void run_child(const Target& target, Inputs& inputs, const NewSeeds& new_seeds,
               const CampaignOptions& options, const fs::path& folder, Clock::time_point begin,
               Shared& shared) {
    while (shared.next < shared.end) {
        if (options.seconds > 0 &&
            std::chrono::duration<double>(Clock::now() - begin).count() > options.seconds) {
            shared.done = true;
            return;
        }
        const std::uint64_t index = shared.next++;
        std::string bytes = inputs.at(index);
        bytes.resize(std::min(bytes.size(), shared.input.size()));
        std::memcpy(shared.input.data(), bytes.data(), bytes.size());
        shared.input_bytes = bytes.size();
        Results results;
        const InputCost cost = run_input(target, folder, bytes, results);
        shared.peak_bytes = std::max(shared.peak_bytes, cost.peak_bytes);
        bool is_new = false;
        for (const std::string& result : results.all()) {
            is_new = shared.add(result) || is_new;
        }
        if (is_new && index >= inputs.fixed() && inputs.add_seed(bytes)) {
            new_seeds.put(index, bytes);
        }
    }
}

/// Fork a child that runs inputs, with its standard error in a file.
/// @return the status as waitpid() gives it
int run_in_child(const std::function<void()>& work, const fs::path& log, Shared& shared) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        throw std::runtime_error("cannot fork");
    }
    if (child == 0) {
        const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        ::dup2(file, STDERR_FILENO);
        ::dup2(file, STDOUT_FILENO);
        try {
            work();
        } catch (const std::exception& defect) {
            std::snprintf(shared.reason.data(), shared.reason.size(), "%s", defect.what());
            ::_exit(defect_status);
        }
        ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/// Return why the child ended early: the words of a sanitizer, if it wrote any.
std::string reason_of(const Target& target, int status, const fs::path& log, const Shared& shared) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == defect_status) {
        return shared.reason.data();
    }
    std::ifstream stream(log);
    for (std::string line; std::getline(stream, line);) {
        for (const char* sign : {"runtime error: ", "SUMMARY: "}) {
            if (line.find(sign) != std::string::npos) {
                return line;
            }
        }
    }
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)) {
        return "no end within " + std::to_string(target.processor_seconds) + " s of processor time or 60 s";
    }
    return WIFSIGNALED(status) ? std::string("signal: ") + ::strsignal(WTERMSIG(status))
                               : "exit status " + std::to_string(WEXITSTATUS(status));
}

/// Save the input of a failure that was not seen before, and print how to replay it.
void note_failure(const Target& target, const CampaignOptions& options, const std::string& reason,
                  const fs::path& log, const Shared& shared, CampaignReport& report) {
    std::string kind = reason; // numbers and addresses differ from input to input
    std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
    for (Failure& known : report.failures) {
        std::string other = known.reason;
        std::erase_if(other, [](unsigned char c) { return std::isdigit(c) != 0; });
        if (other == kind) {
            ++known.count;
            return;
        }
    }
    fs::create_directories(options.out);
    const fs::path file =
        options.out / (std::string(target.name) + "-" + std::to_string(options.seed) + "-" +
                       std::to_string(shared.next - 1) + fs::path(target.file_name).extension().string());
    write_file(file, {shared.input.data(), shared.input_bytes});
    std::error_code ignored;
    fs::copy_file(log, file.string() + ".log", fs::copy_options::overwrite_existing, ignored);
    const std::string replay = fs::read_symlink("/proc/self/exe", ignored).string() + " " + target.name +
                               " --replay " + file.string();
    report.failures.push_back({reason, file, 1, replay});
    std::fprintf(stderr, "FAILED %s: %s\n  %s\n", target.name, reason.c_str(), replay.c_str());
}

} // namespace

CampaignReport run_campaign(const Target& target, const CampaignOptions& options) {
    const ScratchFolder scratch;
    Shared& shared = make_shared_memory();
    const std::vector<std::string> seeds = seeds_in(options.corpus);
    if (seeds.empty()) {
        throw std::runtime_error("no seed in " + options.corpus.string());
    }
    Inputs inputs(target, seeds, options.seed, options.sweep);
    const NewSeeds new_seeds(scratch.path() / "seeds");
    const bool is_endless = options.count == 0 && options.seconds > 0;
    const std::uint64_t end = is_endless ? UINT64_MAX : inputs.fixed() + options.count;
    CampaignReport report;
    report.corpus_files = seeds.size();
    const auto begin = Clock::now();
    std::uint64_t children_that_failed = 0;
    while (!shared.done && shared.next < end && children_that_failed < max_failures) {
        shared.end = std::min(end, shared.next + inputs_of_a_child);
        const fs::path log = scratch.path() / "log";
        const int status = run_in_child(
            [&] { run_child(target, inputs, new_seeds, options, scratch.path(), begin, shared); }, log,
            shared);
        new_seeds.take(inputs);
        if (status != 0) {
            ++children_that_failed;
            note_failure(target, options, reason_of(target, status, log, shared), log, shared, report);
        }
    }
    report.inputs = shared.next;
    report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    report.results = shared.results;
    report.peak_bytes = shared.peak_bytes;
    ::munmap(&shared, sizeof(Shared));
    return report;
}

} // namespace spng::fuzz
