// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/npy_reader.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/io/archive/transpose.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace spng {

namespace {

constexpr std::int64_t largest_item = 8; // bytes

/// Fill `buffer` with `wanted` bytes. The buffer grows as data arrive.
void read_bytes(ByteSource& source, std::int64_t wanted, const HostAllocator& allocate, at::Tensor& buffer) {
    std::int64_t have = 0;
    while (have < wanted) {
        if (buffer.numel() == have) {
            at::Tensor larger = allocate({std::min(wanted, 2 * have)}, at::kByte);
            std::memcpy(larger.mutable_data_ptr(), buffer.const_data_ptr(), static_cast<std::size_t>(have));
            buffer = std::move(larger);
        }
        const std::int64_t room = std::min(wanted, buffer.numel()) - have;
        const std::size_t count =
            source.read(buffer.mutable_data_ptr<std::uint8_t>() + have, static_cast<std::size_t>(room));
        if (count == 0) {
            throw Error(ErrorKind::Input, {.what = "the member ends inside the array",
                                           .where = source.where(),
                                           .seen = std::to_string(have) + " bytes of data",
                                           .expected = std::to_string(wanted) + " bytes, as in its header",
                                           .hint = "copy or write the file again"});
        }
        have += static_cast<std::int64_t>(count);
    }
    // Reading past the end also makes the archive verify its checksum.
    std::uint8_t beyond = 0;
    if (source.read(&beyond, 1) != 0) {
        throw Error(ErrorKind::Input, {.what = "the member continues after the end of the array",
                                       .where = source.where(),
                                       .seen = "more than " + std::to_string(wanted) + " bytes of data",
                                       .expected = "as many as in the array's header",
                                       .hint = "write the array again"});
    }
}

void make_room(std::int64_t bytes, const HostAllocator& allocate, at::Tensor& buffer) {
    if (!buffer.defined() || buffer.numel() < bytes) {
        buffer = allocate({bytes}, at::kByte);
    }
}

/// Return the bytes of an array, whose header was read.
/// @param buffer  holds them
at::Tensor array_bytes(ByteSource& source, std::int64_t bytes, const HostAllocator& allocate,
                       at::Tensor& buffer) {
    const auto plausible = static_cast<std::int64_t>(
        std::min<std::uint64_t>(source.plausible_bytes(), std::numeric_limits<std::int64_t>::max()));
    const auto all = static_cast<std::int64_t>(source.declared_bytes().value_or(0)); // with the header
    if (all >= bytes && all <= plausible && (all - bytes) % largest_item == 0) {
        make_room(all, allocate, buffer);
        const std::span whole(buffer.mutable_data_ptr<std::uint8_t>(), static_cast<std::size_t>(all));
        if (source.read_whole(whole)) {
            return buffer.narrow(0, all - bytes, bytes);
        }
    }
    make_room(std::min(bytes, plausible), allocate, buffer);
    read_bytes(source, bytes, allocate, buffer);
    return buffer.narrow(0, 0, bytes);
}

template <typename Item>
void swap_items(std::uint8_t* bytes, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        Item item;
        std::memcpy(&item, bytes + i * sizeof(Item), sizeof(Item));
        if constexpr (sizeof(Item) == 2) {
            item = __builtin_bswap16(item);
        } else if constexpr (sizeof(Item) == 4) {
            item = __builtin_bswap32(item);
        } else {
            item = __builtin_bswap64(item);
        }
        std::memcpy(bytes + i * sizeof(Item), &item, sizeof(Item));
    }
}

void swap_bytes(std::uint8_t* bytes, std::int64_t total, std::size_t item_bytes) {
    const std::int64_t count = total / static_cast<std::int64_t>(item_bytes);
    switch (item_bytes) {
    case 2:
        return swap_items<std::uint16_t>(bytes, count);
    case 4:
        return swap_items<std::uint32_t>(bytes, count);
    default:
        return swap_items<std::uint64_t>(bytes, count);
    }
}

bool has_two_orders(const std::vector<std::int64_t>& shape) {
    return std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size != 1; }) > 1;
}

} // namespace

at::Tensor ordinary_tensor(at::IntArrayRef sizes, at::ScalarType type) {
    return at::empty(sizes, type);
}

at::Tensor NpyReader::read(ByteSource& source, const HostAllocator& allocate) {
    const NpyHeader header = read_npy_header(source);
    const auto bytes = static_cast<std::int64_t>(header.data_bytes());
    NVTX_IO_RANGE("NpyReader::read", static_cast<std::uint64_t>(bytes));
    const bool turn = header.fortran_order && has_two_orders(header.shape);

    const HostAllocator& allocate_buffer = turn ? HostAllocator(ordinary_tensor) : allocate;
    at::Tensor own;
    const at::Tensor bytes_of_array = array_bytes(source, bytes, allocate_buffer, turn ? m_buffer : own);
    if (header.swapped) {
        swap_bytes(bytes_of_array.mutable_data_ptr<std::uint8_t>(), bytes, header.item_bytes());
    }
    const at::Tensor items = bytes_of_array.view(header.type);
    if (!turn) {
        return items.view(header.shape);
    }
    if (header.shape.size() == 2) {
        at::Tensor out = allocate(header.shape, header.type);
        fortran_to_c_order(items.const_data_ptr(), out.mutable_data_ptr(), header.shape[0], header.shape[1],
                           header.item_bytes());
        return out;
    }
    const std::vector<std::int64_t> reversed(header.shape.rbegin(), header.shape.rend());
    std::vector<std::int64_t> axes(reversed.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        axes[axis] = static_cast<std::int64_t>(axes.size() - 1 - axis);
    }
    // Copy even if the permuted view is contiguous, since the buffer is reused.
    return items.view(reversed).permute(axes).clone(at::MemoryFormat::Contiguous);
}

at::Tensor NpyReaders::read(ByteSource& source, const HostAllocator& allocate) {
    NpyReader reader;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_spare.empty()) {
            reader = std::move(m_spare.back());
            m_spare.pop_back();
        }
    }
    at::Tensor array = reader.read(source, allocate);
    const std::lock_guard lock(m_mutex);
    m_spare.push_back(std::move(reader));
    return array;
}

} // namespace spng
