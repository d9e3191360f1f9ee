#include "select/matcher.h"

#include <algorithm>
#include <utility>

namespace simrt::select {
namespace {

constexpr const char* kMainRole = "main";
constexpr const char* kSeveralRoles = "several";

}  // namespace

/// The main thread may have no block of its own.
Matcher::Entered Matcher::main_thread(const TestCoverage& coverage) {
  const auto found = std::find_if(coverage.single.begin(), coverage.single.end(),
                                  [](const ThreadCoverage& thread) { return thread.role == kMainRole; });
  return kFirstThread + static_cast<Entered>(found - coverage.single.begin());
}

Matcher::Matcher(const Targets& targets) : targets_(targets), entered_(targets.slots()) {}

void Matcher::enter_alone(Slot slot, Entered by) {
  if (entered_[slot] == kNobody) touched_.push_back(slot);
  entered_[slot] = entered_[slot] == kNobody || entered_[slot] == by ? by : kSeveral;
}

void Matcher::enter(Slot slot, Entered by) {
  enter_alone(slot, by);
  // A thread of the changed version differs from every recorded one, and may be started twice.
  for (Slot group : targets_.groups_with(slot))
    enter_alone(group, targets_.group(group)->new_threads ? kSeveral : by);
}

TestMatch Matcher::match(const TestCoverage& coverage) {
  for (Slot slot : touched_) entered_[slot] = kNobody;
  touched_.clear();
  enter(kStaticInitSlot, main_thread(coverage));
  const auto enter_all = [&](const BlockSet& blocks, Entered by) {
    for (BlockNumber number : blocks& targets_.blocks()) enter(targets_.slot_of_block(number), by);
  };
  for (std::size_t i = 0; i < coverage.single.size(); ++i)
    enter_all(coverage.single[i].blocks, kFirstThread + static_cast<Entered>(i));
  enter_all(coverage.several, kSeveral);

  TestMatch result;
  const auto& goals = targets_.goals();
  for (Slot slot : touched_) {
    result.impacted += targets_.impacted_accesses(slot);
    result.others += targets_.other_accesses(slot);
    for (std::uint32_t goal : targets_.goals_of(slot)) {
      const Entered first = entered_[slot], second = entered_[goals[goal].second];
      if (goals[goal].unknown() ||
          (second != kNobody && (first == kSeveral || second == kSeveral || first != second)))
        result.two_threads.push_back(goal);
      else if (second != kNobody)
        result.same_thread.push_back(goal);
    }
  }
  // Both blocks unknown: any test may do it.
  for (std::uint32_t goal : targets_.goals_of(kUnknownSlot)) result.two_threads.push_back(goal);
  return result;
}

std::string entered_by(const TestCoverage& coverage, const Targets& targets, Slot slot) {
  if (slot == kUnknownSlot) return "any";
  if (slot == kStaticInitSlot) return kMainRole;
  const SlotGroup* const group = targets.group(slot);
  if (!group) return coverage.witness(targets.number(slot), targets.number(slot)).first;
  std::string role;
  for (Slot member : group->members) {
    std::string other = entered_by(coverage, targets, member);
    if (other.empty()) continue;
    if (group->new_threads) return "a thread started here";
    if (!role.empty() && role != other) return kSeveralRoles;
    role = std::move(other);
  }
  return role;
}

}  // namespace simrt::select
