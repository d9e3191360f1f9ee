#include "select/order.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "select/block_classes.h"
#include "select/greedy.h"

namespace simrt::select {
namespace {

using Indices = std::vector<std::uint32_t>;

/// Most urgent first; above kUrgent a reason does not make a test due for its own sake.
constexpr int kUrgent = 2;
int urgency(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::LastRunFailed:
      return 0;
    case ReasonKind::NewTest:
      return 1;
    case ReasonKind::ChangedTest:
      return kUrgent;
    default:
      return kUrgent + 1;
  }
}

int urgency(const Candidate& candidate) {
  int most = kUrgent + 1;
  for (const Reason& reason : candidate.reasons) most = std::min(most, urgency(reason.kind));
  return most;
}

std::vector<Listed> by_urgency(const std::vector<Candidate>& all, Indices tests) {
  std::sort(tests.begin(), tests.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(urgency(all[i]), all[i].seconds, all[i].tie_break, i);
    };
    return key(a) < key(b);
  });
  std::vector<Listed> result;
  for (std::uint32_t i : tests) result.push_back({i, 0, {}});
  return result;
}

/// Tier, most accesses, chance.
bool rest_before(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& c) {
    const Tier tier = rest_tier(c.match);
    const std::uint32_t accesses = tier == Tier::ImpactedAccess ? c.match.impacted : c.match.others;
    return std::tuple(tier, -static_cast<std::int64_t>(accesses), c.tie_break);
  };
  return key(a) < key(b);
}

std::vector<Listed> back(const std::vector<Candidate>& all, Indices tests) {
  std::sort(tests.begin(), tests.end(),
            [&](std::uint32_t a, std::uint32_t b) { return rest_before(all[a], all[b]); });
  std::vector<Listed> result;
  for (std::uint32_t i : tests) result.push_back({i, 0, {}});
  return result;
}

std::vector<Listed> by_pairs(const std::vector<Candidate>& all, const Indices& selected,
                             const Targets& targets, bool per_second) {
  std::vector<std::uint32_t> weights;
  for (const Goal& goal : targets.goals()) weights.push_back(static_cast<std::uint32_t>(goal.pairs.size()));
  std::vector<GreedyTest> tests;
  for (std::uint32_t i : selected)
    tests.push_back({all[i].goals, all[i].tie_break, per_second ? all[i].seconds : 1});

  Indices due, suspected, blind;  // those without a pair
  for (std::uint32_t i : selected) {
    if (!all[i].goals.empty()) continue;
    (urgency(all[i]) <= kUrgent ? due : all[i].test->coverage ? suspected : blind).push_back(i);
  }
  std::vector<Listed> result = by_urgency(all, std::move(due));
  const auto append = [&](std::vector<Listed> more) {
    std::move(more.begin(), more.end(), std::back_inserter(result));
  };
  for (GreedyPick& pick : greedy_order(tests, weights))
    result.push_back({selected[pick.test], pick.gain, std::move(pick.added)});
  append(back(all, std::move(suspected)));
  append(by_urgency(all, std::move(blind)));  // nothing is known of them: whatever is known comes first
  return result;
}

/// Fills in the pairs that each test of a given order is the first to cover.
void count_new_pairs(const std::vector<Candidate>& all, const Targets& targets, std::vector<Listed>& list) {
  std::vector<bool> covered(targets.goals().size());
  for (Listed& listed : list) {
    for (std::uint32_t goal : all[listed.candidate].goals) {
      if (covered[goal]) continue;
      covered[goal] = true;
      listed.new_goals.push_back(goal);
      listed.new_pairs += static_cast<std::uint32_t>(targets.goals()[goal].pairs.size());
    }
  }
}

void sort_by_chance(const std::vector<Candidate>& all, Indices& tests) {
  std::sort(tests.begin(), tests.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(all[a].tie_break, a) < std::tuple(all[b].tie_break, b);
  });
}

std::vector<Listed> by_chance(const std::vector<Candidate>& all, Indices selected) {
  sort_by_chance(all, selected);
  std::vector<Listed> result;
  for (std::uint32_t i : selected) result.push_back({i, 0, {}});
  return result;
}

std::vector<Listed> by_blocks(const std::vector<Candidate>& all, const Indices& selected) {
  std::vector<const TestCoverage*> coverages;
  for (std::uint32_t i : selected) coverages.push_back(all[i].test->coverage);
  const BlockClasses classes = block_classes(coverages);
  std::vector<GreedyTest> tests;
  Indices blind;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    if (classes.of_test[i].empty()) blind.push_back(selected[i]);
    tests.push_back({classes.of_test[i], all[selected[i]].tie_break, 1});
  }
  std::vector<Listed> result;
  for (const GreedyPick& pick : greedy_order(tests, classes.sizes))
    result.push_back({selected[pick.test], 0, {}});
  for (const Listed& listed : by_chance(all, blind)) result.push_back(listed);
  return result;
}

}  // namespace

std::vector<Listed> order_selected(const std::vector<Candidate>& candidates, const Targets& targets,
                                   Ranking ranking) {
  Indices selected;
  for (std::uint32_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].selected) selected.push_back(i);
  if (ranking == Ranking::Pairs || ranking == Ranking::Cost)
    return by_pairs(candidates, selected, targets, ranking == Ranking::Cost);
  std::vector<Listed> list =
      ranking == Ranking::Abc ? by_blocks(candidates, selected) : by_chance(candidates, selected);
  count_new_pairs(candidates, targets, list);
  return list;
}

std::vector<Listed> order_rest(const std::vector<Candidate>& candidates) {
  Indices rest;
  for (std::uint32_t i = 0; i < candidates.size(); ++i)
    if (!candidates[i].selected) rest.push_back(i);
  return back(candidates, std::move(rest));
}

Tier rest_tier(const TestMatch& match) {
  if (match.impacted != 0) return Tier::ImpactedAccess;
  return match.others != 0 ? Tier::SharedAccessOnly : Tier::Other;
}

void estimate_durations(std::vector<Candidate>& candidates) {
  std::vector<double> known;
  for (const Candidate& candidate : candidates)
    if (candidate.test->seconds > 0) known.push_back(candidate.test->seconds);
  double median = 1;
  if (!known.empty()) {
    const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
    std::nth_element(known.begin(), middle, known.end());
    median = *middle;
  }
  for (Candidate& candidate : candidates)
    candidate.seconds = candidate.test->seconds > 0 ? candidate.test->seconds : median;
}

}  // namespace simrt::select
