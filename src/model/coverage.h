// Thread-wise block coverage of one test. Lossless for the thread condition of SimRT's selection
// ("b1 by t1, b2 by t2, t1 != t2"): each covered block is in exactly one of the sets below.
#pragma once

#include <cstdint>
#include <roaring/roaring.hh>
#include <string>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace simrt {

/// Dense number that the history gives to (function, body hash, block ordinal).
using BlockNumber = std::uint32_t;
using BlockSet = ::Roaring;

/// A thread's role: path of creation sites from main ("main", "main/worker@pool.cc:12#0"); not a raw id.
struct ThreadCoverage {
  std::string role;
  BlockSet blocks;  ///< blocks that this thread, and no other, covered
};

struct TestCoverage {
  std::vector<ThreadCoverage> single;  ///< one entry a thread that has blocks of its own
  BlockSet several;                    ///< blocks covered by two or more threads
  std::uint32_t threads = 1;           ///< threads that ran, main included

  bool covers(BlockNumber block) const;
  /// SimRT's thread condition; b1 == b2 asks for one block by two threads.
  bool covers_with_two_threads(BlockNumber b1, BlockNumber b2) const;
  /// Two thread roles that witness the condition, for reasons; "several" stands for any two.
  std::pair<std::string, std::string> witness(BlockNumber b1, BlockNumber b2) const;
  BlockSet all() const;
};

}  // namespace simrt
