// The order of the list: the selected tests by the ranking, then the rest by what they come close to.
#pragma once

#include <cstdint>
#include <vector>

#include "select/matcher.h"
#include "select/select.h"

namespace simrt::select {

/// A test between matching and ordering.
struct Candidate {
  const RecordedTest* test = nullptr;
  TestMatch match;
  std::vector<std::uint32_t> goals;  ///< covered, as the technique understands it
  std::vector<Reason> reasons;       ///< without pair reasons
  bool selected = false;
  Tier tier = Tier::Other;  ///< Selected, or that of the rest
  std::uint64_t tie_break = 0;
  double seconds = 0;  ///< recorded, or the median where that is missing
};

struct Listed {
  std::uint32_t candidate = 0;
  std::uint32_t new_pairs = 0;
  std::vector<std::uint32_t> new_goals;
};

/// The selected ones; see select().
std::vector<Listed> order_selected(const std::vector<Candidate>& candidates, const Targets& targets,
                                   Ranking ranking);

/// The others: by tier, then most accesses first.
std::vector<Listed> order_rest(const std::vector<Candidate>& candidates);

/// The tier of a test that is not selected.
Tier rest_tier(const TestMatch& match);

/// Fills Candidate::seconds: the recorded duration, or the median of all where it is missing.
void estimate_durations(std::vector<Candidate>& candidates);

}  // namespace simrt::select
