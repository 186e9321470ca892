#pragma once

#include <cstdint>
#include <span>

namespace spng {

/// The checksum of gzip (RFC 1952, section 8: CRC-32 of ISO 3309, reflected polynomial 0xEDB88320).
/// @param checksum  result for the bytes before these; 0 to begin
std::uint32_t crc32(std::uint32_t checksum, std::span<const std::uint8_t> bytes);

} // namespace spng
