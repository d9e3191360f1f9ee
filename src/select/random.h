// The generator behind ties and shuffles: splitmix64, the same on every platform.
#pragma once

#include <cstdint>

#include "model/ids.h"
#include "support/hash.h"

namespace simrt::select {

/// A test's place among equals under a seed; smaller is earlier. Independent of all other tests.
inline std::uint64_t tie_break(std::uint64_t seed, TestId test) {
  return hash_combine(hash_combine(0x51, seed), test.value);
}

}  // namespace simrt::select
