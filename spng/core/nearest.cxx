// SPDX-License-Identifier: Apache-2.0
#include "spng/core/nearest.h"

#include <algorithm>
#include <cctype>

namespace spng {
namespace {

std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Return the optimal string alignment distance. Keeps three rows of the usual table.
std::size_t distance(const std::string& a, const std::string& b) {
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> before(width), last(width), now(width);
    for (std::size_t j = 0; j < width; ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j < width; ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = std::min(now[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

} // namespace

std::string nearest_name(const std::string& seen, const std::vector<std::string>& candidates) {
    const std::string wanted = lowered(seen);
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, seen.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        const std::string name = lowered(candidate);
        std::size_t d = distance(wanted, name);
        // A name without its prefix ("Decon" for "SPNGDecon") is near too.
        if (d >= best_distance && wanted.size() >= 4 && name.size() > wanted.size() &&
            name.compare(name.size() - wanted.size(), wanted.size(), wanted) == 0) {
            d = 1;
        }
        if (d < best_distance) {
            best_distance = d;
            best = candidate;
        }
    }
    return best;
}

std::string suggestion(const std::string& seen, const std::vector<std::string>& candidates,
                       const std::string& otherwise) {
    const std::string best = nearest_name(seen, candidates);
    return best.empty() ? otherwise : "did you mean '" + best + "'?";
}

std::string suggestion(const std::string& seen, const std::vector<std::string>& candidates) {
    return candidates.empty() ? "" : suggestion(seen, candidates, "known are: " + joined(candidates));
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
    std::string text;
    for (const auto& word : words) {
        text += (text.empty() ? "" : separator) + word;
    }
    return text;
}

} // namespace spng
