#include "select/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "select/affected.h"
#include "select/evidence.h"

namespace simrt::select {
namespace {

/// "write at src/a.cc:12:3"
std::string place(const SharedAccess& access) {
  return fmt::format("{} at {}:{}:{}", access.mode == AccessMode::Read ? "read" : "write", access.file,
                     access.at.line, access.at.column);
}

const RecordedTest* find_test(const SelectInput& input, TestId id) {
  const auto found = std::find_if(input.tests.begin(), input.tests.end(),
                                  [&](const RecordedTest& test) { return test.test == id; });
  return found == input.tests.end() ? nullptr : &*found;
}

/// How far a pair that is not covered was from being covered; smaller is nearer.
enum class Miss { SameThread, OneSide, Both };

/// What one test lacked. Pairs are many and slots few: each slot is looked up once, and only the lines that
/// are shown are written.
class NearMisses {
 public:
  NearMisses(const SelectInput& input, const Targets& targets, const TestCoverage& coverage)
      : input_(input), targets_(targets), coverage_(coverage), roles_(targets.slots()) {}

  Miss miss(const Goal& goal) {
    const int sides = !role(goal.first).empty() + !role(goal.second).empty();
    return sides == 2 ? Miss::SameThread : sides == 1 ? Miss::OneSide : Miss::Both;
  }

  std::string line(std::uint32_t pair) {
    const AccessPair& indices = input_.impact.pairs[pair];
    const SharedAccess& first = input_.impact.accesses[indices.first];
    const SharedAccess& second = input_.impact.accesses[indices.second];
    const Slot first_slot = targets_.slot_of_access(indices.first),
               second_slot = targets_.slot_of_access(indices.second);
    const std::string &first_role = role(first_slot), &second_role = role(second_slot);
    if (!first_role.empty() && !second_role.empty() && first_slot == second_slot)
      return fmt::format("only thread {} reaches {} (and {}); it takes two", first_role, place(first),
                         place(second));
    if (!first_role.empty() && !second_role.empty())
      return fmt::format("one and the same thread, {}, reaches both {} and {}", first_role, place(first),
                         place(second));
    if (first_role.empty() && second_role.empty())
      return fmt::format("reaches neither {} nor {}", place(first), place(second));
    const bool has_first = !first_role.empty();
    return fmt::format("reaches {} (thread {}), but not {}", place(has_first ? first : second),
                       has_first ? first_role : second_role, place(has_first ? second : first));
  }

 private:
  const std::string& role(Slot slot) {
    if (!roles_[slot]) roles_[slot] = entered_by(coverage_, targets_, slot);
    return *roles_[slot];
  }

  const SelectInput& input_;
  const Targets& targets_;
  const TestCoverage& coverage_;
  std::vector<std::optional<std::string>> roles_;
};

std::vector<std::string> explain_dangerous(const Evidence& evidence) {
  if (evidence.dangerous().isEmpty())
    return {"the change has no dangerous edge that could be mapped to blocks"};
  return {
      fmt::format("enters none of the {} blocks behind dangerous edges", evidence.dangerous().cardinality())};
}

}  // namespace

Reason skip_reason(const SelectInput& input) {
  std::string text = "covers no impacted pair with two threads";
  if (input.options.technique == Technique::SimRTN) text = "covers no impacted pair";
  if (input.impact.pairs.empty()) text = "the change has no impacted pair";
  if (input.options.technique == Technique::Rtsc) text = "enters no block behind a dangerous edge";
  return {ReasonKind::NotCovered, 0, {}, {}, std::move(text)};
}

Reason pair_reason(const SelectInput& input, const Targets& targets, const TestCoverage& coverage,
                   std::uint32_t pair) {
  const AccessPair& indices = input.impact.pairs[pair];
  const SharedAccess& first = input.impact.accesses[indices.first];
  const SharedAccess& second = input.impact.accesses[indices.second];
  const Slot first_slot = targets.slot_of_access(indices.first),
             second_slot = targets.slot_of_access(indices.second);
  Reason reason{ReasonKind::Pair,
                pair,
                entered_by(coverage, targets, first_slot),
                entered_by(coverage, targets, second_slot),
                {}};
  if (first_slot != kUnknownSlot && second_slot != kUnknownSlot) {
    reason.text = fmt::format("{} by thread {}, {} by thread {}", place(first), reason.first_thread,
                              place(second), reason.second_thread);
    return reason;
  }
  reason.kind = ReasonKind::UnknownChange;
  reason.text = fmt::format("may reach {} and {}: where {} stood in the recorded version is not known",
                            place(first), place(second),
                            first_slot == second_slot    ? "they"
                            : first_slot == kUnknownSlot ? "the first"
                                                         : "the second");
  return reason;
}

std::vector<Reason> explain_run(const SelectInput& input, TestId id) {
  const RecordedTest* test = find_test(input, id);
  if (!test) return {};
  const std::vector<RecordedTest> alone{*test};
  SelectInput one{input.impact, input.diff, alone, input.block, input.function_blocks, input.options};
  one.options.pair_reasons = SIZE_MAX;
  one.options.budget_seconds.reset();
  one.options.rest = false;
  Decision decision = select(one).decisions.front();
  return decision.run ? std::move(decision.reasons) : std::vector<Reason>{};
}

std::vector<std::string> explain_skip(const SelectInput& input, TestId id, std::size_t lines) {
  const RecordedTest* test = find_test(input, id);
  if (!test) return {"no such test is recorded"};
  if (!test->coverage) return {"no usable coverage of it is recorded"};
  if (input.options.technique == Technique::Rtsc) return explain_dangerous(Evidence(input));
  if (input.impact.pairs.empty()) return {"the change has no impacted pair"};

  if (const Affected affected(input); !affected.may_differ(*test->coverage)) return {affected.why_not()};
  const Targets targets(input);
  const TestMatch match = Matcher(targets).match(*test->coverage);
  std::vector<bool> covered(targets.goals().size());
  for (std::uint32_t goal : match.two_threads) covered[goal] = true;
  NearMisses near(input, targets, *test->coverage);
  std::vector<std::pair<Miss, std::uint32_t>> misses;
  for (std::size_t goal = 0; goal < targets.goals().size(); ++goal) {
    if (covered[goal]) continue;
    const Miss miss = near.miss(targets.goals()[goal]);
    for (std::uint32_t pair : targets.goals()[goal].pairs) misses.emplace_back(miss, pair);
  }
  const std::size_t shown = std::min(lines, misses.size());
  std::partial_sort(misses.begin(), misses.begin() + static_cast<std::ptrdiff_t>(shown), misses.end());

  std::vector<std::string> result;
  for (std::size_t i = 0; i < shown; ++i) result.push_back(near.line(misses[i].second));
  if (misses.size() > lines) result.push_back(fmt::format("and {} more pairs", misses.size() - lines));
  return result;
}

}  // namespace simrt::select
