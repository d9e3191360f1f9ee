#include "schedule/saturation.h"

#include <algorithm>

namespace simrt::schedule {

std::uint64_t Saturation::add(const std::unordered_set<PatternInstance>& instances) {
  std::uint64_t fresh = 0;
  for (const PatternInstance& instance : instances) {
    const auto [at, first] = seen_again_.try_emplace(instance, false);
    if (first) {
      ++fresh;
      ++once_;
    } else if (!at->second) {
      at->second = true;
      --once_;
    }
  }
  ++executions_;
  stale_ = fresh == 0 ? stale_ + 1 : 0;
  return fresh;
}

double Saturation::discovery_probability() const {
  if (executions_ == 0) return 1;
  return std::min(1.0, static_cast<double>(once_) / static_cast<double>(executions_));
}

bool Saturation::reached() const {
  return executions_ >= rule_.executions && stale_ >= rule_.stale &&
         discovery_probability() <= rule_.probability;
}

}  // namespace simrt::schedule
