// The envelope of every blob in the history: format version, checksum, and zstd compression where it pays.
// Knows nothing of the contents.
//
// Layout: version (1) | packing (1: 0 plain, 1 zstd) | checksum (4, little endian, of all other bytes) |
// payload.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.h"

namespace simrt::history {

/// Wraps `payload`. `version` says how to read it; 1..255.
std::string seal(std::string_view payload, std::uint8_t version);

/// Checks the envelope and returns the payload: a view into `blob`, or into `scratch` when it had to be
/// decompressed. `what` names the thing in messages. Error: History (damaged, or another version).
Result<std::string_view> unseal(std::string_view blob, std::uint8_t version, std::string& scratch,
                                std::string_view what);

}  // namespace simrt::history
