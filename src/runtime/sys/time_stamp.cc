#include "sys/time_stamp.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "sys/instruction.h"

namespace simrt::runtime {

#if defined(__x86_64__)
namespace {

// Whoever walks x86 code from a wrong place is soon in step with it. The bytes of a read that are part of
// something else (a distance, a constant) are passed over from most places before them.
bool starts_instruction(const uint8_t* begin, const uint8_t* at, const uint8_t* end) {
  constexpr uint32_t kWalks = 16, kNearest = 48;
  if (at < begin + kNearest + kWalks) return true;  // rare: not worth more
  uint32_t hits = 0;
  for (uint32_t i = 0; i < kWalks; ++i) {
    const uint8_t* walk = at - kNearest - i;
    while (walk < at) {
      const uint32_t bytes = instruction_length(walk, end);
      walk += bytes == 0 ? 1 : bytes;
    }
    if (walk == at) ++hits;
  }
  return hits > kWalks / 2;
}

// With a prefix or two (REX, 16 bits) the instruction begins before `at`.
bool starts_prefixed(const uint8_t* begin, const uint8_t* at, const uint8_t* end) {
  const auto is_prefix = [](uint8_t byte) { return byte == 0x66 || (byte & 0xf0) == 0x40; };
  for (uint32_t prefixes = 0; prefixes < 3; ++prefixes, --at) {
    if (starts_instruction(begin, at, end)) return true;
    if (at == begin || !is_prefix(at[-1])) return false;
  }
  return false;
}

void look_at(const uint8_t* begin, const uint8_t* at, const uint8_t* end, ProcessorReads& found) {
  if (end - at < 3 || at[0] != 0x0f) return;
  if (found.time_stamp == nullptr && time_stamp_read_at(at).bytes != 0 && starts_instruction(begin, at, end))
    found.time_stamp = at;
  if (found.random_number == nullptr && random_number_read_at(at) && starts_prefixed(begin, at, end))
    found.random_number = at;
}

// Which of 16 bytes begin with the first two of a read.
uint32_t likely_at(const uint8_t* code) {
  const auto load = [](const uint8_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  const __m128i first = load(code), second = load(code + 1);
  const __m128i escape = _mm_cmpeq_epi8(first, _mm_set1_epi8(0x0f));
  const __m128i either = _mm_or_si128(
      _mm_or_si128(_mm_cmpeq_epi8(second, _mm_set1_epi8(0x31)), _mm_cmpeq_epi8(second, _mm_set1_epi8(0x01))),
      _mm_cmpeq_epi8(second, _mm_set1_epi8(static_cast<char>(0xc7))));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_and_si128(escape, either)));
}

}  // namespace

void find_processor_reads(const uint8_t* begin, const uint8_t* end, ProcessorReads& found) {
  constexpr uint32_t kStep = 16;
  const uint8_t* at = begin;
  for (; end - at > kStep; at += kStep) {
    for (uint32_t likely = likely_at(at); likely != 0; likely &= likely - 1)
      look_at(begin, at + __builtin_ctz(likely), end, found);
    if (found.time_stamp != nullptr && found.random_number != nullptr) return;
  }
  for (; at < end; ++at) look_at(begin, at, end, found);
}

#else

void find_processor_reads(const uint8_t*, const uint8_t*, ProcessorReads&) {}

#endif

}  // namespace simrt::runtime
