// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/npy_reader.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/io/archive/transpose.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace spng {

namespace {

constexpr std::int64_t first_bytes = std::int64_t{64} << 20; // a frame of one anode in float32 fits

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

    at::Tensor own;
    at::Tensor& buffer = turn ? m_buffer : own;
    const HostAllocator& allocate_buffer = turn ? HostAllocator(ordinary_tensor) : allocate;
    if (!buffer.defined() || buffer.numel() < std::min(bytes, first_bytes)) {
        buffer = allocate_buffer({std::min(bytes, first_bytes)}, at::kByte);
    }
    read_bytes(source, bytes, allocate_buffer, buffer);
    if (header.swapped) {
        swap_bytes(buffer.mutable_data_ptr<std::uint8_t>(), bytes, header.item_bytes());
    }
    const at::Tensor items = buffer.narrow(0, 0, bytes).view(header.type);
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

} // namespace spng
