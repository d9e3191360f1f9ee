// The host's side of the run file (simrt/format/run.h): one execution as plain values. Program counters stay
// run-time addresses until site_of() makes module and offset of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "simrt/format/run.h"
#include "support/result.h"
#include "testing/check_plan.h"

namespace simrt::testing {

struct ExecutionModule {
  CheckModule name;
  bool executable = false;
  std::uint64_t bias = 0, begin = 0, end = 0;
};

struct ExecutionThread {
  std::uint32_t index = 0;
  std::uint32_t parent = format::kRunNone;
  std::vector<std::uint64_t> frames;  ///< of its creation, innermost first
};

struct ExecutionWait {
  format::RunWait wait;
  std::vector<format::HeldLock> held;
};

struct ExecutionLockCycle {
  format::RunLockCycle cycle;
  std::vector<format::LockEdge> edges;
};

struct ExecutionRacySites {
  std::uint32_t variable = format::kRunNone;
  std::vector<format::RacySite> sites;
};

/// The first read of a kind of input that the engine does not control.
struct ExecutionInput {
  format::Input kind = format::Input::RandomNumber;
  std::string name;               ///< function, instruction or beginning of a path
  std::uint64_t pc = 0;           ///< 0 = none
  std::uint64_t caller = 0;       ///< of the library that made the call; 0 = not known
  std::uint32_t events = 0;       ///< recorded before it
  bool before_execution = false;  ///< in the fork server: the same for all its executions
};

struct Execution {
  format::RunState state = format::RunState::NotStarted;
  std::uint32_t uncontrolled = 0;  ///< format::Uncontrolled
  std::uint32_t flags = 0;         ///< format::RunFlag
  int exit_status = 0;
  std::uint32_t pid = 0, thread_count = 0, outside = 0;
  std::uint64_t points = 0, decisions = 0, switches = 0, preemptions = 0;
  std::uint64_t virtual_ns = 0, diverged_at = 0;
  std::vector<ExecutionInput> inputs;  ///< at most one of a kind
  std::vector<ExecutionModule> modules;
  std::vector<ExecutionThread> threads;
  /// Module indexes are into `modules`; replay with CheckPlan::modules = module_names().
  std::vector<format::ScheduleItem> schedule;
  std::vector<format::RunEvent> events;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> calls;  ///< by RunCalls::hash
  std::vector<ExecutionWait> waits;
  std::vector<std::vector<std::uint64_t>> stacks;        ///< by RunStack::id
  std::vector<std::vector<format::HeldLock>> lock_sets;  ///< by RunLockSet::id
  std::vector<format::RunRace> races;
  std::vector<ExecutionLockCycle> lock_cycles;
  std::vector<format::RunAtomicity> atomicity;
  std::vector<format::RunVariable> variables;
  std::vector<ExecutionRacySites> racy_sites;
  std::vector<std::string> notes;  ///< one line each: what is unusual about the run or the file

  std::vector<CheckModule> module_names() const;
  /// The module that a plan means (see CheckModule); kPlanNone: it was not loaded.
  std::uint32_t find_module(const CheckModule& wanted) const;
  /// Module and offset of a run-time address.
  std::optional<CheckSite> site_of(std::uint64_t pc) const;
  /// Program counters of an event, innermost first; its callers only when a detector was on.
  std::vector<std::uint64_t> stack_of(const format::RunEvent& event) const;
};

/// Reads a run file's bytes. They are foreign input: every count, index and length is checked. Fails with
/// ErrorCode::Execution when it is no run file of this version; one that is damaged further in is read up to
/// the damage, with a note. May be called while the process still runs.
Result<Execution> read_execution(std::span<const std::byte> file);

}  // namespace simrt::testing
