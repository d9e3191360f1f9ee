// The pseudo-random numbers of strategies: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <stdint.h>

namespace simrt::rt::control {

__extension__ using Wide = unsigned __int128;

class Random {
 public:
  void seed(uint64_t seed) { state_ = seed; }

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 <= result < n; n > 0.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<Wide>(next()) * n) >> 64); }

 private:
  uint64_t state_ = 0;
};

}  // namespace simrt::rt::control
