#include "select/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "select/affected.h"
#include "select/evidence.h"
#include "select/explain.h"
#include "select/order.h"
#include "select/random.h"
#include "support/task_pool.h"

namespace simrt::select {
namespace {

class Selector {
 public:
  explicit Selector(const SelectInput& input)
      : input_(input), targets_(input), evidence_(input), affected_(input) {
    for (const Goal& goal : targets_.goals()) pairs_.push_back(static_cast<std::uint32_t>(goal.pairs.size()));
  }

  Selection run() {
    gather_candidates();
    estimate_durations(candidates_);
    std::vector<Listed> list = order_selected(candidates_, targets_, input_.options.ranking);
    if (input_.options.rest)
      for (Listed& listed : order_rest(candidates_)) list.push_back(std::move(listed));
    const std::size_t affordable = affordable_prefix(list);
    Selection selection;
    for (std::size_t i = 0; i < list.size(); ++i)
      selection.decisions.push_back(listed_decision(list[i], i, affordable));
    append_unlisted(selection);
    selection.uncovered = uncovered_pairs();
    return selection;
  }

 private:
  std::vector<TestMatch> match_tests() const;
  void gather_candidates();
  std::size_t affordable_prefix(const std::vector<Listed>& list) const;
  Decision decision(const Candidate& candidate) const;
  Decision listed_decision(const Listed& listed, std::size_t position, std::size_t affordable) const;
  void add_pair_reasons(const Candidate& candidate, const Listed& listed, Decision& decision) const;
  Reason reason_to_skip(const Candidate& candidate) const;
  void append_unlisted(Selection& selection) const;
  std::vector<std::uint32_t> uncovered_pairs() const;

  const SelectInput& input_;
  const Targets targets_;
  const Evidence evidence_;
  const Affected affected_;
  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> pairs_;  ///< by goal: how many
  std::vector<bool> covered_;         ///< by goal
};

/// By test; in parallel.
std::vector<TestMatch> Selector::match_tests() const {
  constexpr std::size_t kChunk = 512;  // tests; a Matcher is made for each chunk
  std::vector<TestMatch> matches(input_.tests.size());
  run_tasks((matches.size() + kChunk - 1) / kChunk, 0, [&](std::size_t chunk) {
    Matcher matcher(targets_);
    for (std::size_t i = chunk * kChunk; i < std::min(matches.size(), (chunk + 1) * kChunk); ++i)
      if (const TestCoverage* coverage = input_.tests[i].coverage; coverage) {
        matches[i] = matcher.match(*coverage);
        if (!affected_.may_differ(*coverage)) matches[i].two_threads.clear();
      }
  });
  return matches;
}

void Selector::gather_candidates() {
  const Technique technique = input_.options.technique;
  std::vector<TestMatch> matches = match_tests();
  covered_.resize(targets_.goals().size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const RecordedTest& test = input_.tests[i];
    Candidate candidate;
    candidate.test = &test;
    candidate.tie_break = tie_break(input_.options.seed, test.test);
    candidate.match = std::move(matches[i]);
    for (std::uint32_t goal : candidate.match.two_threads) covered_[goal] = true;
    candidate.reasons = evidence_.reasons(test);
    candidate.goals = std::move(candidate.match.two_threads);
    if (technique == Technique::SimRTN)
      candidate.goals.insert(candidate.goals.end(), candidate.match.same_thread.begin(),
                             candidate.match.same_thread.end());
    const bool by_pairs =
        (technique == Technique::SimRT || technique == Technique::SimRTN) && !candidate.goals.empty();
    if (!test.coverage && candidate.reasons.empty() &&
        !(input_.impact.pairs.empty() && evidence_.dangerous().isEmpty()))
      candidate.reasons.push_back(
          {ReasonKind::NoCoverage, 0, {}, {}, "no usable coverage of it is recorded"});
    candidate.selected = by_pairs || !candidate.reasons.empty();
    candidate.tier = candidate.selected ? Tier::Selected : rest_tier(candidate.match);
    candidates_.push_back(std::move(candidate));
  }
}

/// How many tests of the list fit into the budget one after the other.
std::size_t Selector::affordable_prefix(const std::vector<Listed>& list) const {
  if (!input_.options.budget_seconds) return list.size();
  double left = *input_.options.budget_seconds;
  for (std::size_t i = 0; i < list.size(); ++i) {
    left -= candidates_[list[i].candidate].seconds;
    if (left < 0) return i;
  }
  return list.size();
}

Decision Selector::decision(const Candidate& candidate) const {
  Decision result;
  result.test = candidate.test->test;
  result.tier = candidate.tier;
  result.seconds = candidate.test->seconds;
  for (std::uint32_t goal : candidate.goals) result.pairs += pairs_[goal];
  result.reasons = candidate.reasons;
  return result;
}

Decision Selector::listed_decision(const Listed& listed, std::size_t position, std::size_t affordable) const {
  const Candidate& candidate = candidates_[listed.candidate];
  Decision result = decision(candidate);
  result.new_pairs = listed.new_pairs;
  if (candidate.selected)
    add_pair_reasons(candidate, listed, result);
  else
    result.reasons.push_back(reason_to_skip(candidate));
  if (position < affordable) {
    result.run = candidate.selected;
    result.rank = static_cast<std::uint32_t>(position + 1);
  } else {
    result.reasons.insert(result.reasons.begin(),
                          {ReasonKind::OverBudget,
                           0,
                           {},
                           {},
                           fmt::format("place {} of the list, behind the end of the budget of {:g} s",
                                       position + 1, *input_.options.budget_seconds)});
  }
  return result;
}

/// The pairs it was the first to cover, then others, up to the limit.
void Selector::add_pair_reasons(const Candidate& candidate, const Listed& listed, Decision& decision) const {
  std::vector<std::uint32_t> goals = listed.new_goals;
  std::sort(goals.begin(), goals.end());
  if (const std::size_t limit = input_.options.pair_reasons; goals.size() < limit) {
    std::vector<std::uint32_t> others;
    for (std::uint32_t goal : candidate.goals)
      if (!std::binary_search(goals.begin(), goals.end(), goal)) others.push_back(goal);
    const auto end = others.begin() + static_cast<std::ptrdiff_t>(std::min(others.size(), limit));
    std::partial_sort(others.begin(), end, others.end());
    goals.insert(goals.end(), others.begin(), end);
  }
  std::size_t left = input_.options.pair_reasons;
  for (std::uint32_t goal : goals) {
    for (std::uint32_t pair : targets_.goals()[goal].pairs) {
      if (left-- == 0) return;
      decision.reasons.push_back(pair_reason(input_, targets_, *candidate.test->coverage, pair));
    }
  }
}

Reason Selector::reason_to_skip(const Candidate& candidate) const {
  const TestCoverage* coverage = candidate.test->coverage;
  const bool untouched = coverage && !input_.impact.pairs.empty() && !affected_.may_differ(*coverage);
  return untouched ? Reason{ReasonKind::NotCovered, 0, {}, {}, affected_.why_not()} : skip_reason(input_);
}

void Selector::append_unlisted(Selection& selection) const {
  if (input_.options.rest) return;
  std::vector<const Candidate*> skipped;
  for (const Candidate& candidate : candidates_)
    if (!candidate.selected) skipped.push_back(&candidate);
  std::sort(skipped.begin(), skipped.end(), [](const Candidate* a, const Candidate* b) {
    return std::tie(a->test->name, a->test->test) < std::tie(b->test->name, b->test->test);
  });
  for (const Candidate* candidate : skipped) {
    selection.decisions.push_back(decision(*candidate));
    selection.decisions.back().reasons.push_back(reason_to_skip(*candidate));
  }
}

std::vector<std::uint32_t> Selector::uncovered_pairs() const {
  std::vector<std::uint32_t> result;
  for (std::size_t goal = 0; goal < covered_.size(); ++goal)
    if (!covered_[goal])
      result.insert(result.end(), targets_.goals()[goal].pairs.begin(), targets_.goals()[goal].pairs.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

Selection select(const SelectInput& input) { return Selector(input).run(); }

}  // namespace simrt::select
