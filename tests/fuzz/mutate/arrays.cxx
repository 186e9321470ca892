// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate/arrays.h"

#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/mutate/container.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace spng::fuzz {
namespace {

constexpr std::array types{"<i2", ">i2", "<i4", "<u4", "|u1", "|i1", "|b1", "<u2", "<i8",
                           ">i8", "<u8", "<f2", "<f4", ">f4", "<f8", ">f8", "|O",  "<c8"};
constexpr std::array<std::string_view, 12> sizes{
    "0", "1", "2", "3", "4", "7", "255", "65536", "2147483648", "1000000000000", "9223372036854775807", "-1"};
constexpr std::array separators{",", ", ", ")", "(", "", "L,"};

/// The parts of a .npy file.
struct Npy {
    std::string dictionary;
    std::string items;
};

std::optional<Npy> parse(const std::string& npy) {
    if (npy.size() < 10 || !npy.starts_with("\x93NUMPY")) {
        return std::nullopt;
    }
    const std::size_t length = static_cast<unsigned char>(npy[8]) | static_cast<unsigned char>(npy[9]) << 8;
    const std::string rest = npy.substr(10);
    return Npy{rest.substr(0, length), rest.substr(std::min(length, rest.size()))};
}

std::string composed(const Npy& npy, int version) {
    std::string out = "\x93NUMPY";
    out += {static_cast<char>(version), '\0'};
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
        out += static_cast<char>(npy.dictionary.size() >> (8 * i));
    }
    return out + npy.dictionary + npy.items;
}

/// Replace the text between two marks.
void replace_between(std::string& text, const std::string& before, const std::string& after,
                     const std::string& value) {
    const std::size_t begin = text.find(before);
    const std::size_t end = text.find(after, begin == std::string::npos ? begin : begin + before.size());
    if (end != std::string::npos) {
        text.replace(begin + before.size(), end - begin - before.size(), value);
    }
}

std::string any_shape(Random& random) {
    std::string shape;
    for (std::size_t axes = random.one_in(16) ? 9 : random.below(4); axes > 0; --axes) {
        shape += random.pick(sizes);
        shape += axes > 1 || random.one_in(2) ? random.pick(separators) : "";
    }
    return shape;
}

template <class Item>
void set_item(std::string& items, Random& random, std::initializer_list<Item> values) {
    if (items.size() >= sizeof(Item)) {
        const std::size_t index = random.below(items.size() / sizeof(Item));
        const Item value = *(values.begin() + random.below(values.size()));
        std::memcpy(items.data() + index * sizeof(Item), &value, sizeof(Item));
    }
}

void change_items(std::string& items, Random& random) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (random.below(7)) {
    case 0:
        return set_item<double>(items, random,
                                {std::nan(""), infinity, -infinity, -0.0, 1e300, 5e-324, -1e9, 0.5});
    case 1:
        return set_item<float>(items, random, {std::nanf(""), static_cast<float>(infinity), 3e38F, -1.0F});
    case 2:
        return set_item<std::int64_t>(items, random,
                                      {std::numeric_limits<std::int64_t>::min(), -1, 0, std::int64_t{1} << 40,
                                       std::numeric_limits<std::int64_t>::max()});
    case 3:
        return set_item<std::int32_t>(items, random,
                                      {std::numeric_limits<std::int32_t>::min(), -1, 0, 1, 7, 100,
                                       std::numeric_limits<std::int32_t>::max()});
    case 4:
        return set_item<std::int16_t>(items, random, {-32768, -1, 0, 1, 32767});
    case 5:
        items.resize(random.below(2 * items.size() + 2), '\1');
        return;
    default:
        items = mutate_bytes(items, {items}, {}, random);
    }
}

constexpr std::array kinds{"frame",   "runs",     "values", "shape",     "channels",  "tickinfo",
                           "summary", "chanmask", "notes",  "depo_data", "depo_info", "other"};
constexpr std::array labels{"*", "a", "", "a_b", "spng", "gauss0", "\x1b[31m", "\xff\xfe"};
constexpr std::array idents{"0", "1", "2", "-1", "00", "2147483648", "-2147483648", "x", ""};

void rename(std::string& name, Random& random) {
    switch (random.below(4)) {
    case 0:
        name = random.pick(kinds);
        name += "_";
        name += random.pick(labels);
        name += "_";
        name += random.pick(idents);
        name += random.one_in(8) ? "" : ".npy";
        return;
    case 1:
        replace_between(name, "_", "_", random.pick(labels));
        return;
    case 2:
        replace_between(name, name.substr(0, name.rfind('_') + 1), ".npy", random.pick(idents));
        return;
    default:
        name = mutate_bytes(name, {name}, {}, random);
        // A name ends at the first 0.
        std::replace(name.begin(), name.end(), '\0', '0');
        name.resize(std::min<std::size_t>(name.size(), 300));
    }
}

void change(std::vector<Member>& members, Random& random) {
    const std::size_t index = random.below(members.size());
    switch (random.below(10)) {
    case 0:
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(index));
        return;
    case 1:
        members.push_back(members[index]);
        return;
    case 2:
        std::swap(members[index], members[random.below(members.size())]);
        return;
    case 3:
        return rename(members[index].name, random);
    case 4:
        std::swap(members[index].content, members[random.below(members.size())].content);
        return;
    default:
        members[index].content = mutate_array(members[index].content, random);
    }
}

} // namespace

std::string mutate_array(const std::string& bytes, Random& random) {
    std::optional<Npy> npy = parse(bytes);
    if (!npy || random.one_in(10)) {
        return mutate_bytes(bytes, {bytes}, {}, random);
    }
    switch (random.below(6)) {
    case 0:
        replace_between(npy->dictionary, "'descr': '", "'", random.pick(types));
        break;
    case 1:
        replace_between(npy->dictionary, "'fortran_order': ", ",", random.one_in(2) ? "True" : "False");
        break;
    case 2:
        replace_between(npy->dictionary, "'shape': (", ")", any_shape(random));
        break;
    case 3:
        npy->dictionary = mutate_bytes(npy->dictionary, {npy->dictionary}, sizes, random);
        break;
    default:
        change_items(npy->items, random);
    }
    return composed(*npy, random.one_in(8) ? static_cast<int>(random.below(5)) : 1);
}

std::string mutate_archive(const std::vector<std::string>& seeds, Random& random) {
    std::vector<Member> members = unpack(random.pick(seeds));
    if (random.one_in(8)) {
        const std::vector<Member> others = unpack(random.pick(seeds));
        members.insert(members.end(), others.begin(), others.end());
    }
    for (std::size_t i = 1 + random.below(3); i > 0 && !members.empty(); --i) {
        change(members, random);
    }
    if (random.one_in(8)) { // damage behind the checksum of the compression alone
        return compress(mutate_bytes(pack(members, Container::tar), seeds, {}, random),
                        random.one_in(16) ? Compression::bzip2 : Compression::gzip);
    }
    return pack(members, any_container(random));
}

} // namespace spng::fuzz
