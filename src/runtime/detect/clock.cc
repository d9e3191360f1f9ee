#include "detect/clock.h"

namespace simrt::rt::detect {

uint32_t slots_used = 0;

bool Clock::grow(uint32_t count) {
  if (count <= size) return true;
  const uint32_t rounded = (count + 3) & ~3u;
  auto* larger = static_cast<uint64_t*>(take(rounded * sizeof(uint64_t)));
  if (larger == nullptr) return false;
  for (uint32_t i = 0; i < size; ++i) larger[i] = segments[i];
  give_back(segments, size * sizeof(uint64_t));
  segments = larger;
  size = rounded;
  return true;
}

void Clock::join(const uint64_t* other, uint32_t count) {
  while (count > size && other[count - 1] == 0) --count;
  if (!grow(count)) count = size;
  for (uint32_t i = 0; i < count; ++i) segments[i] = segments[i] > other[i] ? segments[i] : other[i];
}

void Clock::raise(uint32_t slot, uint64_t segment) {
  if (grow(slot + 1) && segments[slot] < segment) segments[slot] = segment;
}

}  // namespace simrt::rt::detect
