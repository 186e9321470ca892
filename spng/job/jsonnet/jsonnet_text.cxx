// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/jsonnet_text.h"

#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include <sys/stat.h>

namespace spng {
namespace {

std::string read(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream content;
    content << stream.rdbuf();
    return content.str();
}

} // namespace

std::string jsonnet_text(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) {
        return read(file);
    }
    static std::mutex mutex;
    static std::map<std::pair<dev_t, ino_t>, std::string> known;
    const std::lock_guard lock(mutex);
    std::string& text = known[{status.st_dev, status.st_ino}];
    if (text.empty()) {
        text = read(file);
    }
    return text;
}

} // namespace spng
