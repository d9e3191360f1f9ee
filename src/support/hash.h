// 64-bit XXH3 hashing. Used for identities that must be equal across machines and runs,
// so nothing here depends on addresses, seeds or the standard library's hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace simrt {

/// XXH3-64 of the bytes. Thread-safe, stable across platforms.
std::uint64_t hash_bytes(std::string_view bytes);

/// Order-dependent combination of two hashes (splitmix64 finaliser).
constexpr std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b + 0x7F4A7C15ULL;
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return x;
}

}  // namespace simrt
