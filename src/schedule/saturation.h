// When to stop: how likely it is that the next execution covers something new.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "schedule/patterns/pattern.h"

namespace simrt::schedule {

struct SaturationRule {
  double probability = 0.01;      ///< stop when the estimate is at or below this ...
  std::uint64_t stale = 20;       ///< ... and so many executions in a row brought nothing new,
  std::uint64_t executions = 10;  ///< but never before so many executions
};

/// Good-Turing estimate of the discovery probability (Boehme, STADS, TOSEM 2018): the share of executions'
/// worth of instances that were seen in exactly one execution.
class Saturation {
 public:
  explicit Saturation(SaturationRule rule = {}) : rule_(rule) {}
  /// One execution; returns how many instances were new.
  std::uint64_t add(const std::unordered_set<PatternInstance>& instances);
  /// Upper estimate, in [0, 1], of the probability that the next execution covers something new.
  double discovery_probability() const;
  bool reached() const;
  std::uint64_t executions() const { return executions_; }
  std::uint64_t stale() const { return stale_; }

 private:
  SaturationRule rule_;
  std::unordered_map<PatternInstance, bool> seen_again_;
  std::uint64_t executions_ = 0, stale_ = 0, once_ = 0;
};

}  // namespace simrt::schedule
