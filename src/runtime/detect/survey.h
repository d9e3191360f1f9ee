// The four cells of a granule against one access, all at once: what decides how the access is entered lies in
// the lower halves of the words, so that 32-bit lanes of the baseline of x86-64 do for all four.
#pragma once

#include <stdint.h>

#include "detect/shadow.h"

namespace simrt::rt::detect {

using Words = long long __attribute__((vector_size(16)));
using Lanes = int __attribute__((vector_size(16)));

/// The cells as they were at one moment each.
struct Seen {
  Words first, second;

  explicit Seen(const Granule& granule) {
    const auto* cells = reinterpret_cast<const volatile Words*>(granule.cell);
    first = cells[0], second = cells[1];
  }
  uint64_t cell(uint32_t i) const { return static_cast<uint64_t>(i < 2 ? first[i] : second[i - 2]); }
  bool nothing() const {
    const Words all = first | second;
    return (all[0] | all[1]) == 0;
  }
};

inline uint32_t bits_of(Lanes lanes) {
  return static_cast<uint32_t>(
      __builtin_ia32_movmskps(reinterpret_cast<float __attribute__((vector_size(16)))>(lanes)));
}

/// Bit i: the ith of these four words is 0.
inline uint32_t zeros(Words a, Words b) {
  const auto first = reinterpret_cast<Lanes>(a), second = reinterpret_cast<Lanes>(b);
  return bits_of((__builtin_shufflevector(first, second, 0, 2, 4, 6) |
                  __builtin_shufflevector(first, second, 1, 3, 5, 7)) == 0);
}

inline constexpr uint32_t kAllCells = (1u << Granule::kCells) - 1;
/// The cells that are the same in both.
inline uint32_t unchanged(const Seen& a, const Seen& b) {
  return zeros(a.first ^ b.first, a.second ^ b.second);
}

/// The cells that have the same as `cell` in these bits.
inline uint32_t matching(const Seen& seen, uint64_t cell, uint64_t bits) {
  const auto asked = static_cast<long long>(cell), fields = static_cast<long long>(bits);
  return zeros((seen.first ^ Words{asked, asked}) & Words{fields, fields},
               (seen.second ^ Words{asked, asked}) & Words{fields, fields});
}

/// Bit i of each: cell i is ...
struct Survey {
  uint32_t own;      // the same thread's, or empty where its slot is the first
  uint32_t alike;    // of the same thread, kind and bytes, now or earlier
  uint32_t foreign;  // another thread's, and it or the access writes: may conflict
  uint32_t within;   // of the same thread, and says nothing that the access would not say as well
  uint32_t empty;
  uint32_t atomic;  // an atomic access
};

inline Survey survey(const Seen& seen, uint64_t cell) {
  const auto all = [](uint64_t bits) {
    const auto half = static_cast<int>(static_cast<uint32_t>(bits));
    return Lanes{half, half, half, half};
  };
  constexpr uint64_t kAlike = kBytes | kWrite | kAtomic | kRelease | kSlotBits;
  const auto first = reinterpret_cast<Lanes>(seen.first), second = reinterpret_cast<Lanes>(seen.second);
  const Lanes low = __builtin_shufflevector(first, second, 0, 2, 4, 6);
  const Lanes differs = low ^ all(cell);
  const uint32_t own = bits_of((differs & all(kSlotBits)) == 0);
  const uint32_t empty = bits_of(low == 0);
  const uint32_t counts = (cell & kWrite) != 0 ? ~empty & kAllCells : bits_of(low << 23);
  static_assert(kWrite << 23 == 1u << 31 && kAtomic << 22 == 1u << 31, "movmskps takes the sign of a lane");
  // An atomic access conflicts with less than a plain one, so it says less.
  const Lanes beyond = (low & all(~cell & (kBytes | kWrite | kRelease))) | (differs & all(kAtomic));
  const uint32_t within = bits_of(beyond == 0);
  const uint32_t alike = bits_of((differs & all(kAlike)) == 0), atomic = bits_of(low << 22);
  return {own, alike, counts & ~own, within & own & ~empty, empty, atomic};
}

}  // namespace simrt::rt::detect
