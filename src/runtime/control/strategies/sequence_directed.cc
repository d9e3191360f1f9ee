// Active testing of an order of accesses, for memory-access patterns (MAP): a thread that can take the next
// step goes at once; one that is about to take a later step, or to touch a variable of the pattern in
// between, is held; the others go at random. When nobody is left the attempt begins anew.
#include "control/hold.h"
#include "control/strategies/list.h"
#include "simrt/format/run.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxCandidates = 1024;
constexpr uint32_t kMaxNames = 64;  // roles, variables

class SequenceDirected final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    hold_.begin(settings.hold);
    steps_ = settings.steps;
    count_ = settings.step_count;
    done_ = false;
    restart();
  }

  uint32_t choose(const Decision& decision) override {
    const uint32_t chosen = pick(decision);
    hold_.passed(decision.candidates[chosen]);
    if (at_ < count_ && !done_ && can_take(decision.candidates[chosen], steps_[at_]))
      take(decision.candidates[chosen], steps_[at_]);
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

  uint32_t flags() const override {
    return (done_ ? format::kRunSequenceDone : 0u) | (hold_.given_up() ? format::kRunHoldGivenUp : 0u);
  }

 private:
  uint32_t pick(const Decision& decision) {
    for (uint32_t i = 0; i < decision.count; ++i) open_[i] = true;
    if (done_ || count_ == 0) return choose_open(decision, open_, random_);
    for (uint32_t i = 0; i < decision.count; ++i)
      if (can_take(decision.candidates[i], steps_[at_])) return i;
    for (uint32_t i = 0; i < decision.count; ++i)
      open_[i] = !spoils(decision.candidates[i]) || !hold_.keep(decision.candidates[i], decision.number);
    const uint32_t chosen = choose_open(decision, open_, random_);
    if (chosen != kNobody) return chosen;
    if (at_ > 0) hold_.note_given_up();
    restart();
    for (uint32_t i = 0; i < decision.count; ++i) open_[i] = true;
    return choose_open(decision, open_, random_);
  }

  bool can_take(const Candidate& candidate, const Step& step) const {
    if (candidate.operation.pc != step.pc || !same_kind(candidate.operation.kind, step.kind)) return false;
    if (step.thread != format::kPlanNone && step.thread != candidate.thread) return false;
    if (step.address != 0 && step.address != candidate.operation.object) return false;
    const uint32_t bound = roles_[step.role % kMaxNames];
    if (bound != kNobody ? bound != candidate.thread : is_bound(candidate.thread)) return false;
    const uintptr_t address = addresses_[step.variable % kMaxNames];
    return address == 0 || (candidate.operation.object < address + sizes_[step.variable % kMaxNames] &&
                            address < candidate.operation.object + candidate.operation.size);
  }

  bool is_bound(uint32_t thread) const {
    for (uint32_t role : roles_)
      if (role == thread) return true;
    return false;
  }

  static bool same_kind(EventKind now, EventKind wanted) {
    return now == wanted || (is_memory(now) && is_memory(wanted) && writes(now) == writes(wanted));
  }

  void take(const Candidate& candidate, const Step& step) {
    roles_[step.role % kMaxNames] = candidate.thread;
    addresses_[step.variable % kMaxNames] = candidate.operation.object;
    sizes_[step.variable % kMaxNames] = candidate.operation.size == 0 ? 1 : candidate.operation.size;
    if (++at_ == count_) done_ = true;
  }

  // It would take a step too early, or (when the attempt has begun) come between two steps.
  bool spoils(const Candidate& candidate) const {
    for (uint32_t s = at_ + 1; s < count_; ++s)
      if (can_take(candidate, steps_[s])) return true;
    if (at_ == 0 || !is_memory(candidate.operation.kind)) return false;
    for (uint32_t v = 0; v < kMaxNames; ++v) {
      if (addresses_[v] == 0) continue;
      const Operation variable = {EventKind::Write, 0, sizes_[v], addresses_[v], 0};
      if (writes(candidate.operation.kind) && conflict(candidate.operation, variable)) return true;
    }
    return false;
  }

  void restart() {
    at_ = 0;
    for (auto& role : roles_) role = kNobody;
    for (auto& address : addresses_) address = 0;
  }

  Random random_;
  Hold hold_;
  const Step* steps_ = nullptr;
  uint32_t count_ = 0, at_ = 0;
  bool done_ = false;
  uint32_t roles_[kMaxNames] = {}, sizes_[kMaxNames] = {};
  uintptr_t addresses_[kMaxNames] = {};
  bool open_[kMaxCandidates] = {};
};

constinit SequenceDirected strategy;

}  // namespace

Strategy* sequence_directed() { return &strategy; }

}  // namespace simrt::rt::control
