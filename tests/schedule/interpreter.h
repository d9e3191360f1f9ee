// A tiny language of concurrent programs, run under a given schedule prefix as the runtime would: behind the
// prefix the running thread goes on, or the enabled one with the lowest index. Threads start enabled; there
// is no main.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/execution.h"

namespace simrt::schedule {

enum class Op {
  Read,
  Write,
  Add,
  Lock,
  Unlock,
  Try,
  Share,
  Unshare,
  TryShare,
  Post,
  Wait,
  TryWait,
  Count,  ///< reads a semaphore
  End,
  TryJoin,
  AssertEqual,
  LoopWhileNotZero
};

struct Instruction {
  Op op;
  std::uint64_t object = 0;  ///< variable, mutex, semaphore or thread (End: its own)
  /// Write: what; Add: to the register; tries: how many steps to leave out when they fail;
  /// AssertEqual: with the register; Loop: back to
  int value = 0;
  std::string site;
};

struct Program {
  std::vector<std::vector<Instruction>> threads;
  std::vector<int> variables;
  int mutexes = 0;
  std::vector<int> semaphores = {};  ///< their counts at the beginning
};

class Interpreter {
 public:
  explicit Interpreter(const Program& program, std::size_t limit = 400) : program_(program), limit_(limit) {}

  Execution run(const Choices& prefix) {
    variables_ = program_.variables;
    owner_.assign(static_cast<std::size_t>(program_.mutexes), kNoThread);
    readers_.assign(static_cast<std::size_t>(program_.mutexes), 0);
    counts_ = program_.semaphores;
    at_.assign(program_.threads.size(), 0);
    registers_.assign(program_.threads.size(), 0);
    seen_.assign(program_.threads.size(), {});
    Execution execution;
    for (std::size_t t = 0; t < at_.size(); ++t)
      execution.threads.push_back({role_id("t" + std::to_string(t)), 0});
    ThreadIndex running = kNoThread;
    bool yields = false;
    for (std::size_t d = 0;; ++d) {
      const ThreadSet enabled = enabled_threads();
      if (enabled.empty()) break;
      if (d >= limit_) {
        execution.outcome = {ExecutionEnd::Cut, ""};
        break;
      }
      ThreadIndex next;
      if (d < prefix.size()) {
        next = prefix[d];
        if (!enabled.contains(next)) {
          execution.outcome = {ExecutionEnd::Diverged, ""};
          return execution;
        }
      } else {
        next = running != kNoThread && enabled.contains(running) ? running : enabled.first();
        if (yields && enabled.size() > 1) {
          ThreadSet others = enabled;
          others.erase(next);
          next = others.first();
        }
      }
      execution.decisions.push_back({execution.events.size(), enabled, next});
      const Instruction& instruction = program_.threads[next][at_[next]];
      yields = instruction.op == Op::LoopWhileNotZero;
      execution.events.push_back(event(next, instruction));
      if (!step(next, instruction)) {
        execution.outcome = {ExecutionEnd::Failed, instruction.site};
        break;
      }
      running = next;
    }
    finish(execution);
    return execution;
  }

  /// Variables and what every thread read, in order: equal for equivalent interleavings only.
  std::string final_state() const {
    std::string text;
    for (const int value : variables_) text += std::to_string(value) + ",";
    for (const auto& values : seen_) {
      text += "|";
      for (const int value : values) text += std::to_string(value) + ",";
    }
    for (const std::size_t at : at_) text += "@" + std::to_string(at);
    return text;
  }

 private:
  ThreadSet enabled_threads() const {
    ThreadSet enabled;
    for (ThreadIndex t = 0; t < at_.size(); ++t) {
      if (at_[t] >= program_.threads[t].size()) continue;
      const Instruction& next = program_.threads[t][at_[t]];
      if (next.op == Op::Lock && !is_free(next.object)) continue;
      if (next.op == Op::Share && owner_[next.object] != kNoThread) continue;
      if (next.op == Op::Wait && counts_[next.object] == 0) continue;
      enabled.insert(t);
    }
    return enabled;
  }

  bool is_free(std::uint64_t lock) const { return owner_[lock] == kNoThread && readers_[lock] == 0; }

  static bool tries(Op op) {
    return op == Op::Try || op == Op::TryShare || op == Op::TryWait || op == Op::TryJoin;
  }
  bool fails(const Instruction& instruction) const {
    const std::uint64_t object = instruction.object;
    return (instruction.op == Op::Try && !is_free(object)) ||
           (instruction.op == Op::TryShare && owner_[object] != kNoThread) ||
           (instruction.op == Op::TryWait && counts_[object] == 0) ||
           (instruction.op == Op::TryJoin && at_[object] < program_.threads[object].size());
  }

  ExecutionEvent event(ThreadIndex thread, const Instruction& instruction) const {
    ExecutionEvent made;
    made.thread = thread;
    made.site = site_id(instruction.site);
    const bool memory =
        instruction.op == Op::Read || instruction.op == Op::Write || instruction.op == Op::Add;
    const bool counts = instruction.op == Op::Post || instruction.op == Op::Wait ||
                        instruction.op == Op::TryWait || instruction.op == Op::Count;
    made.object = (memory ? 0x1000 : counts ? 0x8000 : 0x9000) + 8 * instruction.object;
    if (instruction.op == Op::End || instruction.op == Op::TryJoin) made.object = instruction.object;
    made.size = memory ? 8 : instruction.op == Op::Count ? 4 : 0;
    made.tried = tries(instruction.op);
    if (fails(instruction)) {
      made.kind = EventKind::TryFailed;
      return made;
    }
    switch (instruction.op) {
      case Op::Read:
        made.kind = EventKind::Read;
        break;
      case Op::Write:
      case Op::Add:
        made.kind = EventKind::Write;
        break;
      case Op::Lock:
      case Op::Try:
        made.kind = EventKind::Lock;
        break;
      case Op::Share:
      case Op::TryShare:
        made.kind = EventKind::LockShared;
        break;
      case Op::Unshare:
        made.kind = EventKind::UnlockShared;
        break;
      case Op::Unlock:
        made.kind = EventKind::Unlock;
        break;
      case Op::Post:
        made.kind = EventKind::SemaphorePost;
        break;
      case Op::Wait:
      case Op::TryWait:
        made.kind = EventKind::SemaphoreWait;
        break;
      case Op::Count:
        made.kind = EventKind::AtomicLoad;
        break;
      case Op::End:
        made.kind = EventKind::End;
        break;
      case Op::TryJoin:
        made.kind = EventKind::Join;
        break;
      case Op::AssertEqual:
      case Op::LoopWhileNotZero:
        made.kind = EventKind::Yield;
        break;
    }
    return made;
  }

  bool step(ThreadIndex thread, const Instruction& instruction) {
    ++at_[thread];
    if (fails(instruction)) {
      at_[thread] += static_cast<std::size_t>(instruction.value);
      return true;
    }
    switch (instruction.op) {
      case Op::Read:
        registers_[thread] = variables_[instruction.object];
        seen_[thread].push_back(registers_[thread]);
        return true;
      case Op::Write:
        variables_[instruction.object] = instruction.value;
        return true;
      case Op::Add:
        variables_[instruction.object] = registers_[thread] + instruction.value;
        return true;
      case Op::Lock:
      case Op::Try:
        owner_[instruction.object] = thread;
        return true;
      case Op::Share:
      case Op::TryShare:
        ++readers_[instruction.object];
        return true;
      case Op::Unshare:
        --readers_[instruction.object];
        return true;
      case Op::Post:
        ++counts_[instruction.object];
        return true;
      case Op::Count:
        seen_[thread].push_back(counts_[instruction.object]);
        return true;
      case Op::End:
        return true;
      case Op::TryJoin:
        seen_[thread].push_back(-1);
        return true;
      case Op::Wait:
      case Op::TryWait:
        --counts_[instruction.object];
        return true;
      case Op::Unlock:
        owner_[instruction.object] = kNoThread;
        return true;
      case Op::AssertEqual:
        return registers_[thread] == instruction.value;
      case Op::LoopWhileNotZero:
        if (registers_[thread] != 0) at_[thread] = static_cast<std::size_t>(instruction.value);
        return true;
    }
    return true;
  }

  void finish(Execution& execution) const {
    for (ThreadIndex t = 0; t < at_.size(); ++t) {
      if (at_[t] >= program_.threads[t].size()) continue;
      execution.pending.push_back({event(t, program_.threads[t][at_[t]])});
      if (execution.outcome.end == ExecutionEnd::Passed)
        execution.outcome = {ExecutionEnd::Deadlock, "deadlock"};
    }
  }

  const Program& program_;
  std::size_t limit_;
  std::vector<int> variables_;
  std::vector<ThreadIndex> owner_;
  std::vector<int> readers_, counts_;
  std::vector<std::size_t> at_;
  std::vector<int> registers_;
  std::vector<std::vector<int>> seen_;
};

}  // namespace simrt::schedule
