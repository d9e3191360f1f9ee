#include "pipeline/check/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "pipeline/execution/memory_misuse.h"

namespace simrt::pipeline {
namespace {

using format::EventKind;
using testing::Execution;

std::vector<std::uint64_t> stack_of(const Execution& execution, std::uint32_t id, std::uint64_t pc) {
  if (id < execution.stacks.size() && !execution.stacks[id].empty()) return execution.stacks[id];
  return pc == 0 ? std::vector<std::uint64_t>() : std::vector<std::uint64_t>{pc};
}

std::string place_text(const CodeFrame* frame) {
  if (frame == nullptr) return "?";
  if (frame->file.empty()) return frame->function.empty() ? "?" : frame->function;
  return fmt::format("{}:{}", frame->file, frame->line);
}

/// Names locks of one execution: a global's name, what the source calls it where it was taken, else a number.
class LockNames {
 public:
  LockNames(const Execution& execution, Symbols& symbols) : execution_(execution), symbols_(symbols) {}

  std::string name(std::uint64_t lock, const std::vector<CodeFrame>& acquired) {
    auto [known, fresh] = names_.try_emplace(lock);
    if (fresh) known->second = symbols_.variable(execution_, lock, acquired);
    return known->second;
  }

 private:
  const Execution& execution_;
  Symbols& symbols_;
  std::map<std::uint64_t, std::string> names_;
};

class Describer {
 public:
  Describer(const Execution& execution, Symbols& symbols)
      : execution_(execution), symbols_(symbols), locks_(execution, symbols) {}

  HeldLock held(const format::HeldLock& lock) {
    HeldLock result;
    result.acquired = symbols_.stack(execution_, stack_of(execution_, lock.stack, lock.pc));
    result.name = locks_.name(lock.lock, result.acquired);
    result.shared = lock.shared != 0;
    return result;
  }

  FindingSide side(const format::FindingAccess& access) {
    FindingSide side;
    side.kind = step_kind(static_cast<EventKind>(access.kind));
    side.stack = symbols_.stack(execution_, stack_of(execution_, access.stack, access.pc));
    side.thread = symbols_.role(execution_, access.thread);
    side.locks_known = access.lock_set < execution_.lock_sets.size();
    if (side.locks_known)
      for (const format::HeldLock& lock : execution_.lock_sets[access.lock_set])
        side.locks.push_back(held(lock));
    return side;
  }

  std::string memory(std::uint32_t id) {
    for (const format::RunVariable& variable : execution_.variables) {
      if (variable.id != id) continue;
      if (variable.pc == 0) {
        const std::string global = symbols_.global(execution_, variable.address);
        return global.empty() ? std::string() : "global " + global;
      }
      const auto stack = symbols_.stack(execution_, stack_of(execution_, variable.stack, variable.pc));
      const CodeFrame* frame = own_frame(stack);
      const std::string size = variable.size == 0 ? "" : fmt::format(" of {} bytes", variable.size);
      return fmt::format("heap block{} allocated in {} at {}", size, frame ? frame->function : "?",
                         place_text(frame));
    }
    return {};
  }

  Candidate race(const format::RunRace& race);
  std::optional<Candidate> cycle(const testing::ExecutionLockCycle& cycle);
  Candidate atomicity(const format::RunAtomicity& record);
  FindingSide waiting(const testing::ExecutionWait& wait);
  FindingSide event(std::size_t index);

 private:
  testing::CheckSite site(std::uint64_t pc) const {
    return execution_.site_of(pc).value_or(testing::CheckSite{format::kPlanNone, 0});
  }
  std::string name_at(const format::FindingAccess& access, const FindingSide& side) {
    const bool by_library = side.stack.empty() || !side.stack.front().own();
    return symbols_.variable(
        execution_, access.address, side.stack,
        by_library && access.kind == static_cast<std::uint8_t>(format::EventKind::Write));
  }

  const Execution& execution_;
  Symbols& symbols_;
  LockNames locks_;
};

Candidate Describer::race(const format::RunRace& race) {
  Candidate candidate;
  Finding& finding = candidate.finding;
  finding.kind = FindingKind::Race;
  finding.sides = {side(race.first), side(race.second)};
  // The writes name it (the release of memory names nothing), unless only a read tells more than a place; of
  // two names the first one by alphabet, so that the order in which the sides happened does not matter.
  std::vector<std::string> names[4];  // variables: of writes, of reads; places: of writes, of reads
  for (const auto* access : {&race.first, &race.second}) {
    const FindingSide& side = finding.sides[access == &race.first ? 0 : 1];
    if (access->pc == 0) continue;  // the detector did not tell where it is
    if (side.kind == StepKind::Free) continue;
    const std::string name = name_at(*access, side);
    const bool written = side.kind == StepKind::Write || side.kind == StepKind::AtomicWrite;
    names[(Symbols::names_a_variable(name) ? 0 : 2) + (written ? 0 : 1)].push_back(name);
  }
  finding.variable = "freed memory";
  for (const auto& group : names) {
    if (group.empty()) continue;
    finding.variable = *std::min_element(group.begin(), group.end());
    break;
  }
  finding.memory = memory(race.variable);
  candidate.witnessed = (race.flags & format::kFindingWitnessed) != 0;
  candidate.weak = (race.flags & format::kFindingHandedOver) != 0;
  finding.evidence = candidate.witnessed ? "nothing ordered the accesses in the observed execution"
                                         : "another schedule could let them meet";
  candidate.pairs = {{site(race.first.pc), site(race.second.pc), true}};
  return candidate;
}

std::optional<Candidate> Describer::cycle(const testing::ExecutionLockCycle& record) {
  if (record.edges.empty()) return std::nullopt;
  Candidate candidate;
  Finding& finding = candidate.finding;
  finding.kind = FindingKind::Deadlock;
  finding.evidence = "locks are taken in orders that can block each other";
  std::vector<std::string> names;
  std::uint32_t role = 0;
  std::vector<testing::CheckStep> wanted_steps;
  const auto count = static_cast<std::uint32_t>(record.edges.size());
  for (const format::LockEdge& edge : record.edges) {
    FindingSide side;
    side.kind = edge.wanted_shared ? StepKind::LockShared : StepKind::Lock;
    side.stack = symbols_.stack(execution_, stack_of(execution_, edge.wanted_stack, edge.wanted_pc));
    side.thread = symbols_.role(execution_, edge.thread);
    side.locks = {held({edge.held, edge.held_pc, edge.held_stack, edge.held_shared})};
    side.object = locks_.name(edge.wanted, side.stack);
    names.push_back(side.object);
    finding.sides.push_back(std::move(side));
    const auto kind = [](bool shared) { return shared ? EventKind::LockShared : EventKind::Lock; };
    // Each step has a variable of its own: the runtime tells locks apart by who holds them.
    candidate.steps.push_back(
        {site(edge.held_pc), kind(edge.held_shared), role, role, format::kPlanNone, edge.held});
    wanted_steps.push_back(
        {site(edge.wanted_pc), kind(edge.wanted_shared), role, count + role, format::kPlanNone, edge.wanted});
    ++role;
  }
  candidate.steps.insert(candidate.steps.end(), wanted_steps.begin(), wanted_steps.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  finding.variable = fmt::format("{}", fmt::join(names, ", "));
  return candidate;
}

Candidate Describer::atomicity(const format::RunAtomicity& record) {
  Candidate candidate;
  Finding& finding = candidate.finding;
  finding.kind = FindingKind::Atomicity;
  finding.pattern = record.pattern;
  std::map<std::uint32_t, std::uint32_t> roles;
  std::map<std::uint64_t, std::uint32_t> variables;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < std::min(record.count, 4u); ++i) {
    const format::FindingAccess& access = record.accesses[i];
    finding.sides.push_back(side(access));
    const std::string name = name_at(access, finding.sides.back());
    finding.sides.back().object = name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    const auto role =
        roles.try_emplace(access.thread, static_cast<std::uint32_t>(roles.size())).first->second;
    const auto variable =
        variables.try_emplace(access.address, static_cast<std::uint32_t>(variables.size())).first->second;
    candidate.steps.push_back(
        {site(access.pc), static_cast<EventKind>(access.kind), role, variable, format::kPlanNone, 0});
  }
  finding.variable = fmt::format("{}", fmt::join(names, ", "));
  finding.evidence = "an access of another thread can come between";
  candidate.witnessed = (record.flags & format::kFindingWitnessed) != 0;
  candidate.weak =
      true;  // what belongs together is a guess (AVIO: what passing executions do is no violation)
  return candidate;
}

FindingSide Describer::waiting(const testing::ExecutionWait& wait) {
  FindingSide side;
  side.kind = step_kind(wait.wait.kind);
  side.stack = symbols_.stack(execution_, stack_of(execution_, wait.wait.stack, wait.wait.pc));
  side.thread = symbols_.role(execution_, wait.wait.thread);
  for (const format::HeldLock& lock : wait.held) side.locks.push_back(held(lock));
  if (side.kind == StepKind::Join) {
    side.object = symbols_.role(execution_, wait.wait.awaited).name;
  } else if (wait.wait.kind == EventKind::External) {
    side.kind = StepKind::Wait;
    auto at = std::find_if(side.stack.begin(), side.stack.end(),
                           [](const CodeFrame& frame) { return frame.own(); });
    if (at == side.stack.end()) at = side.stack.begin();
    side.object =
        at == side.stack.end() || at->function.empty() ? "descriptor" : "descriptor in " + at->function;
  } else {
    side.object = locks_.name(wait.wait.object, side.stack);
  }
  return side;
}

/// The locks that the event's thread held follow from the events before it.
FindingSide Describer::event(std::size_t index) {
  const format::RunEvent& event = execution_.events[index];
  FindingSide side;
  side.kind = step_kind(static_cast<EventKind>(event.kind));
  side.stack = symbols_.stack(execution_, execution_.stack_of(event));
  side.thread = symbols_.role(execution_, event.thread);
  side.object = symbols_.variable(execution_, event.object, side.stack);
  std::vector<const format::RunEvent*> held;
  for (std::size_t i = 0; i < index; ++i) {
    const format::RunEvent& before = execution_.events[i];
    if (before.thread != event.thread) continue;
    const auto kind = static_cast<EventKind>(before.kind);
    if (kind == EventKind::Lock || kind == EventKind::LockShared) held.push_back(&before);
    if (kind != EventKind::Unlock && kind != EventKind::UnlockShared) continue;
    const auto last = std::find_if(held.rbegin(), held.rend(),
                                   [&](const auto* lock) { return lock->object == before.object; });
    if (last != held.rend()) held.erase(std::next(last).base());
  }
  for (const format::RunEvent* lock : held) {
    HeldLock result;
    result.acquired = symbols_.stack(execution_, execution_.stack_of(*lock));
    result.name = locks_.name(lock->object, result.acquired);
    result.shared = static_cast<EventKind>(lock->kind) == EventKind::LockShared;
    side.locks.push_back(std::move(result));
  }
  return side;
}

/// Threads that wait for each other in a circle, in its order from the lowest one; empty when there is no
/// circle.
std::vector<const testing::ExecutionWait*> circle(const Execution& execution) {
  std::map<std::uint32_t, const testing::ExecutionWait*> waits;
  for (const auto& wait : execution.waits)
    if (wait.wait.state == format::WaitState::Blocked) waits[wait.wait.thread] = &wait;
  for (const auto& [start, wait] : waits) {
    std::vector<const testing::ExecutionWait*> path;
    std::uint32_t at = start;
    while (waits.contains(at) && path.size() <= waits.size()) {
      path.push_back(waits[at]);
      at = waits[at]->wait.awaited;
      if (at == start) return path;
    }
  }
  return {};
}

bool is_join(const testing::ExecutionWait& wait) { return wait.wait.kind == EventKind::Join; }

}  // namespace

StepKind step_kind(EventKind kind) {
  switch (kind) {
    case EventKind::Read:
      return StepKind::Read;
    case EventKind::Write:
      return StepKind::Write;
    case EventKind::AtomicLoad:
    case EventKind::AtomicFailed:
      return StepKind::AtomicRead;
    case EventKind::AtomicStore:
    case EventKind::AtomicUpdate:
      return StepKind::AtomicWrite;
    case EventKind::Lock:
    case EventKind::TryFailed:
      return StepKind::Lock;
    case EventKind::LockShared:
      return StepKind::LockShared;
    case EventKind::Unlock:
    case EventKind::UnlockShared:
      return StepKind::Unlock;
    case EventKind::Wait:
    case EventKind::Woken:
    case EventKind::TimedOut:
    case EventKind::SemaphoreWait:
    case EventKind::OnceBegin:
    case EventKind::OnceEnd:
      return StepKind::Wait;
    case EventKind::Notify:
    case EventKind::NotifyAll:
    case EventKind::SemaphorePost:
      return StepKind::Notify;
    case EventKind::Create:
      return StepKind::Create;
    case EventKind::Join:
      return StepKind::Join;
    case EventKind::Free:
      return StepKind::Free;
    default:
      return StepKind::Other;
  }
}

std::vector<Candidate> candidates_of(const Execution& execution, Symbols& symbols) {
  symbols.learn(execution, false);
  Describer describe(execution, symbols);
  std::vector<Candidate> all;
  for (const format::RunRace& race : execution.races) all.push_back(describe.race(race));
  for (const auto& cycle : execution.lock_cycles)
    if (auto candidate = describe.cycle(cycle)) all.push_back(std::move(*candidate));
  for (const format::RunAtomicity& record : execution.atomicity) all.push_back(describe.atomicity(record));
  for (Candidate& candidate : all) {
    candidate.modules = execution.module_names();
    candidate.fingerprint = fingerprint(candidate.finding);
  }
  return all;
}

Finding describe_stuck(const Execution& execution, Symbols& symbols) {
  symbols.learn(execution, false);
  Describer describe(execution, symbols);
  Finding finding;
  finding.status = FindingStatus::Confirmed;
  std::vector<std::string> names;
  const auto members = circle(execution);
  finding.kind = members.empty() ? FindingKind::Hang : FindingKind::Deadlock;
  if (!members.empty()) {
    for (const auto* wait : members) finding.sides.push_back(describe.waiting(*wait));
    finding.evidence = "the threads wait for each other in a circle; nobody can go on";
  } else {
    for (const auto& wait : execution.waits)
      if (wait.wait.state == format::WaitState::Blocked && !is_join(wait))
        finding.sides.push_back(describe.waiting(wait));
    finding.evidence = "nobody can go on, and nothing that could still happen would wake them";
  }
  for (const FindingSide& side : finding.sides) names.push_back(side.object);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  finding.variable = names.empty() ? "all threads" : fmt::format("{}", fmt::join(names, ", "));
  return finding;
}

Finding describe_diagnosis(const Diagnosis& diagnosis, const std::vector<JudgedExecution>& executions,
                           Symbols& symbols) {
  Finding finding;
  finding.kind = diagnosis.pattern == 0 ? FindingKind::Order : FindingKind::Atomicity;
  finding.pattern = diagnosis.pattern;
  finding.status = FindingStatus::Confirmed;
  finding.harm = Harm::Shown;
  std::vector<std::string> names;
  for (const DiagnosedStep& step : diagnosis.steps) {
    const Execution& execution = executions[step.execution].execution;
    symbols.learn(execution, true);
    finding.sides.push_back(Describer(execution, symbols).event(step.event));
    const std::string& name = finding.sides.back().object;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  // Two names of one variable: that of the write, as in a race.
  if (diagnosis.pattern == 0 && finding.sides.size() == 2)
    names = {
        finding
            .sides[finding.sides[0].kind == StepKind::Write || finding.sides[0].kind == StepKind::AtomicWrite
                       ? 0
                       : 1]
            .object};
  finding.variable = fmt::format("{}", fmt::join(names, ", "));
  finding.evidence = fmt::format(
      "the accesses happened in this order in {} of {} failing executions and in {} of {} passing ones",
      diagnosis.failing_with, diagnosis.failing, diagnosis.passing_with, diagnosis.passing);
  return finding;
}

std::optional<Candidate> race_of(const Diagnosis& diagnosis, const std::vector<JudgedExecution>& executions,
                                 const Finding& described) {
  const auto plain = [](const FindingSide& side) {
    return side.kind == StepKind::Read || side.kind == StepKind::Write;
  };
  if (diagnosis.pattern != 0 || diagnosis.steps.size() != 2) return std::nullopt;
  if (!plain(described.sides[0]) && !plain(described.sides[1])) return std::nullopt;
  Candidate candidate;
  candidate.finding = described;
  candidate.finding.kind = FindingKind::Race;
  candidate.pairs.emplace_back();
  for (const auto at : {&testing::CheckPair::first, &testing::CheckPair::second}) {
    const DiagnosedStep& step = diagnosis.steps[at == &testing::CheckPair::first ? 0 : 1];
    const Execution& execution = executions[step.execution].execution;
    const auto site = execution.site_of(execution.events[step.event].pc);
    if (!site) return std::nullopt;
    // The two executions need not have loaded their modules in one order.
    const testing::CheckModule module = execution.module_names()[site->module];
    const auto known = std::find(candidate.modules.begin(), candidate.modules.end(), module);
    candidate.pairs[0].*at = {static_cast<std::uint32_t>(known - candidate.modules.begin()), site->offset};
    if (known == candidate.modules.end()) candidate.modules.push_back(module);
  }
  candidate.fingerprint = fingerprint(candidate.finding);
  return candidate;
}

Finding describe_failure(const testing::CheckResult& result, const std::string& ending, Symbols& symbols) {
  const Execution& execution = result.execution;
  symbols.learn(execution, false);
  Finding finding;
  finding.kind = FindingKind::Crash;
  finding.status = FindingStatus::Confirmed;
  finding.harm = Harm::Shown;
  finding.variable = ending;
  finding.evidence = "an execution under this schedule ended so";
  const auto misuse = find_memory_misuse(execution);
  if (misuse && ending == to_string(*misuse)) {
    for (const std::size_t at : {misuse->event, misuse->release}) {
      const format::RunEvent& event = execution.events[at];
      FindingSide side;
      side.stack = symbols.stack(execution, {event.pc});
      side.kind = step_kind(static_cast<EventKind>(event.kind));
      side.thread = symbols.role(execution, event.thread);
      finding.sides.push_back(std::move(side));
    }
    return finding;
  }
  // Where the thread that ran last was last seen in the project's own code. What the C library does on its
  // way to abort is passed over: without frame pointers it does not tell who called it.
  for (const bool named : {true, false}) {
    if (execution.events.empty() || !finding.sides.empty()) break;
    const std::uint32_t thread = execution.events.back().thread;
    for (auto event = execution.events.rbegin(); event != execution.events.rend(); ++event) {
      if (event->thread != thread || event->pc == 0) continue;
      FindingSide side;
      side.stack = symbols.stack(execution, execution.stack_of(*event));
      if (side.stack.empty() || !own_frame(side.stack)->own()) continue;
      if (named && side.stack.front().function.empty()) continue;
      side.kind = step_kind(static_cast<EventKind>(event->kind));
      side.thread = symbols.role(execution, thread);
      finding.sides.push_back(std::move(side));
      break;
    }
  }
  return finding;
}

}  // namespace simrt::pipeline
