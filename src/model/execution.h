// One execution of a test under the controlled scheduler, as the host sees it: what happened in which order,
// who could have gone on instead, and how it ended. Values only. Threads are known by index (creation order)
// and by role (stable across executions); sites are stable across executions and revisions, objects are not:
// an object is an address, or whatever event.h says for its kind, of this execution.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "simrt/format/event.h"

namespace simrt {

using format::EventKind;

/// A place in the program that makes events (file, line, column, function), independent of the build.
using SiteId = StrongId<struct SiteTag>;
/// A thread by the path of its creation sites from main, with ordinals.
using RoleId = StrongId<struct RoleTag>;

SiteId site_id(std::string_view canonical_name);
RoleId role_id(std::string_view canonical_name);

/// Index of a thread in its execution: 0 = main, then in order of creation.
using ThreadIndex = std::uint32_t;
inline constexpr ThreadIndex kNoThread = std::numeric_limits<ThreadIndex>::max();
inline constexpr std::uint32_t kNoStack = std::numeric_limits<std::uint32_t>::max();

/// Threads with indices 0 to 63, as the runtime records who could have gone on.
class ThreadSet {
 public:
  constexpr ThreadSet() = default;
  constexpr explicit ThreadSet(std::uint64_t bits) : bits_(bits) {}
  /// False for every thread above 63.
  constexpr bool contains(ThreadIndex thread) const { return thread < 64 && ((bits_ >> thread) & 1) != 0; }
  constexpr void insert(ThreadIndex thread) {
    if (thread < 64) bits_ |= 1ULL << thread;
  }
  constexpr void erase(ThreadIndex thread) {
    if (thread < 64) bits_ &= ~(1ULL << thread);
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return __builtin_popcountll(bits_); }
  /// Lowest member; kNoThread when empty.
  constexpr ThreadIndex first() const {
    return bits_ == 0 ? kNoThread : static_cast<ThreadIndex>(__builtin_ctzll(bits_));
  }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr ThreadSet operator|(ThreadSet other) const { return ThreadSet(bits_ | other.bits_); }
  constexpr ThreadSet operator&(ThreadSet other) const { return ThreadSet(bits_ & other.bits_); }
  constexpr ThreadSet minus(ThreadSet other) const { return ThreadSet(bits_ & ~other.bits_); }
  constexpr bool operator==(const ThreadSet&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

struct ExecutionThread {
  RoleId role;
  ThreadIndex parent = kNoThread;
  bool operator==(const ExecutionThread&) const = default;
};

/// One step. `stack` is an index into Execution::stacks, or kNoStack.
struct ExecutionEvent {
  std::uint64_t object = 0;
  SiteId site;
  std::uint32_t size = 0;  ///< bytes
  ThreadIndex thread = 0;
  std::uint32_t stack = kNoStack;
  EventKind kind = EventKind::Begin;
  bool tried = false;       ///< format::kEventTried
  std::uint32_t value = 0;  ///< format::RunEvent::value
  bool operator==(const ExecutionEvent&) const = default;
};

/// A scheduling point: who could have gone on before `event`, and who did.
struct ExecutionDecision {
  std::size_t event = 0;  ///< index into Execution::events of the step that the chosen thread made
  ThreadSet enabled;
  ThreadIndex chosen = 0;
  bool operator==(const ExecutionDecision&) const = default;
};

/// What a thread was about to do when the execution ended, and waited for.
struct PendingOperation {
  ExecutionEvent operation;
  bool operator==(const PendingOperation&) const = default;
};

enum class ExecutionEnd : std::uint8_t {
  Passed,
  Failed,  ///< crash, assertion, uncaught exception, wrong exit status
  Deadlock,
  Livelock,
  Cut,      ///< a limit of points or time; nothing is known of how it would have ended
  Diverged  ///< the schedule to follow did not fit
};

struct ExecutionOutcome {
  ExecutionEnd end = ExecutionEnd::Passed;
  std::string
      what;  ///< identity of the failure (signal and top frame, assertion, cycle of locks); empty if none
  bool failed() const {
    return end == ExecutionEnd::Failed || end == ExecutionEnd::Deadlock || end == ExecutionEnd::Livelock;
  }
  bool operator==(const ExecutionOutcome&) const = default;
};

struct Execution {
  std::vector<ExecutionThread> threads;
  std::vector<ExecutionEvent> events;
  std::vector<ExecutionDecision>
      decisions;  ///< ascending by event; events without one follow their predecessor
  std::vector<std::vector<SiteId>> stacks;  ///< call sites, innermost first
  std::vector<PendingOperation> pending;    ///< of the threads that had not ended
  ExecutionOutcome outcome;
  bool operator==(const Execution&) const = default;
};

/// Who went on at every decision.
using Choices = std::vector<ThreadIndex>;
Choices choices_of(const Execution& execution);
/// How often the thread changes along the choices.
std::size_t context_switches(const Choices& choices);

constexpr bool is_memory(EventKind kind) {
  return kind >= EventKind::Read && kind <= EventKind::AtomicFailed;
}
constexpr bool reads_memory(EventKind kind) {
  return kind == EventKind::Read || kind == EventKind::AtomicLoad || kind == EventKind::AtomicUpdate ||
         kind == EventKind::AtomicFailed;
}
constexpr bool writes_memory(EventKind kind) {
  return kind == EventKind::Write || kind == EventKind::AtomicStore || kind == EventKind::AtomicUpdate;
}

}  // namespace simrt
