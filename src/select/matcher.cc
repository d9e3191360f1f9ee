#include "select/matcher.h"

#include <algorithm>

namespace simrt::select {
namespace {

constexpr const char* kMainRole = "main";

}  // namespace

/// The main thread may have no block of its own.
Matcher::Entered Matcher::main_thread(const TestCoverage& coverage) {
  const auto found = std::find_if(coverage.single.begin(), coverage.single.end(),
                                  [](const ThreadCoverage& thread) { return thread.role == kMainRole; });
  return kFirstThread + static_cast<Entered>(found - coverage.single.begin());
}

Matcher::Matcher(const Targets& targets) : targets_(targets), entered_(targets.slots()) {}

void Matcher::enter(Slot slot, Entered by) {
  if (entered_[slot] == kNobody) touched_.push_back(slot);
  entered_[slot] = entered_[slot] == kNobody || entered_[slot] == by ? by : kSeveral;
  // A thread of the changed version differs from every recorded one, and may be started twice.
  if (const Slot thread = targets_.thread_started_behind(slot); thread != kUnknownSlot && by != kNobody) {
    if (entered_[thread] == kNobody) touched_.push_back(thread);
    entered_[thread] = kSeveral;
  }
}

TestMatch Matcher::match(const TestCoverage& coverage) {
  for (Slot slot : touched_) entered_[slot] = kNobody;
  touched_.clear();
  enter(kStaticInitSlot, main_thread(coverage));
  enter(kAnywhereSlot, main_thread(coverage));
  const auto enter_all = [&](const BlockSet& blocks, Entered by) {
    for (BlockNumber number : blocks& targets_.blocks()) enter(targets_.slot_of_block(number), by);
  };
  for (std::size_t i = 0; i < coverage.single.size(); ++i) {
    enter_all(coverage.single[i].blocks, kFirstThread + static_cast<Entered>(i));
    enter(kAnywhereSlot, kFirstThread + static_cast<Entered>(i));
  }
  if (!coverage.several.isEmpty()) enter(kAnywhereSlot, kSeveral);
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
  if (slot == kAnywhereSlot) return "any";
  if (targets.is_started_thread(slot))
    return coverage.covers(targets.number(slot)) ? "a thread started here" : "";
  return coverage.witness(targets.number(slot), targets.number(slot)).first;
}

}  // namespace simrt::select
