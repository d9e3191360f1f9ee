// The frame of every piece of a mapped file between host and runtime.
#pragma once

#include <stdint.h>

namespace simrt::format {

/// chunk := ChunkHeader record payload padding.
struct ChunkHeader {
  uint32_t kind;  // of the file's own list of records
  uint32_t reserved;
  uint64_t bytes;  // header, record, payload and padding
};

}  // namespace simrt::format
