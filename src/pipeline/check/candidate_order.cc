#include "pipeline/check/candidate_order.h"

#include <algorithm>

namespace simrt::pipeline {
namespace {

// What is verified shares this part of what is left, as long as more waits behind it.
constexpr double kPartVerified = 0.75;

/// Those of a lower number come first.
int tier(const Candidate& candidate) {
  const auto& cause = candidate.finding.cause;
  const int risk = !cause ? 2 : cause->first.empty() ? 1 : 0;
  return (candidate.missed ? 12 : 0) + (candidate.witnessed ? 0 : 6) + (candidate.weak ? 3 : 0) + risk;
}

}  // namespace

bool is_impacted_race(const Candidate& candidate) {
  const auto& cause = candidate.finding.cause;
  return candidate.finding.kind == FindingKind::Race && cause && !cause->first.empty();
}

void sort_by_promise(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return tier(a) < tier(b); });
}

double parts_for(const std::vector<Candidate>& candidates, std::size_t index, bool all_known) {
  double equals = 0;
  for (std::size_t i = index; i < candidates.size() && tier(candidates[i]) == tier(candidates[index]); ++i)
    ++equals;
  const bool last = index + static_cast<std::size_t>(equals) == candidates.size() && all_known;
  return equals / (last ? 1 : kPartVerified);
}

}  // namespace simrt::pipeline
