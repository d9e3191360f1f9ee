// Active testing of an order of accesses, for memory-access patterns (MAP): a thread that can take the next
// step goes at once; one that is about to take a later step, or to write a variable of the pattern in
// between, is held. Where the plan names the threads of the roles, these go before all others (bystanders),
// in half of the seeds with the bystanders one after the other; else the others go at random. When nobody is
// left some of the held go on (they may hold a lock that a step needs), and in the end the attempt begins
// anew. `depth` of the plan: how often the first step is let pass before it counts.
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
    passes_ = false;
    over_ = false;
    last_ = settings.length == 0 ? UINT64_MAX : kPatience * settings.length + 1000;
    skip_ = settings.depth;
    named_ = false;
    for (uint32_t i = 0; i < count_; ++i) named_ |= steps_[i].thread != format::kPlanNone;
    in_turn_ = random_.below(2) == 0;
    newest_ = 0;
    restart();
  }

  uint32_t choose(const Decision& decision) override {
    const uint32_t chosen = pick(decision);
    hold_.passed(decision.candidates[chosen]);
    if (at_ < count_ && !done_ && !over_ && !passes_ && can_take(decision.candidates[chosen], steps_[at_]))
      take(decision.candidates[chosen], steps_[at_]);
    passes_ = false;
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

  uint32_t flags() const override {
    return (done_ ? format::kRunSequenceDone : 0u) | (hold_.given_up() ? format::kRunHoldGivenUp : 0u);
  }

 private:
  /// Who goes before whom where nobody can take the next step; and of whom it would spoil the attempt, how
  /// badly.
  enum class Rank : uint8_t {
    Next,             ///< makes the next step; everybody where the plan names no threads
    Creator,          ///< a bystander while the next step's thread is not there yet
    Member,           ///< of another role: no further than it must, it might take a lock that is needed
    Bystander,        ///< of none
    TouchesVariable,  ///< writes a variable of the pattern between two of its steps
    TouchesPlace,     ///< the same of a variable that no step has touched yet, by the place in the code
    Overtakes         ///< would take a later step
  };
  static constexpr uint8_t kRanks = 7;

  uint32_t pick(const Decision& decision) {
    for (uint32_t i = 0; i < decision.count; ++i) open_[i] = true;
    if (decision.number > last_ && !done_ && !over_) {
      over_ = true;
      hold_.note_given_up();
    }
    if (done_ || over_ || count_ == 0) return choose_open(decision, open_, random_);
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (!can_take(decision.candidates[i], steps_[at_])) continue;
      if (at_ > 0 || skip_ == 0) return i;
      --skip_;  // a later time
      passes_ = true;
      return i;
    }
    if (decision.candidates[decision.count - 1].thread > newest_)
      newest_ = decision.candidates[decision.count - 1].thread;
    for (uint32_t i = 0; i < decision.count; ++i) {
      rank_[i] = rank(decision.candidates[i]);
      const bool spoils = rank_[i] > Rank::Bystander;
      if (spoils && !hold_.keep(decision.candidates[i], decision.number)) rank_[i] = Rank::Bystander;
    }
    // Whoever is held may hold a lock that a step needs. The pattern is a subsequence: others may touch its
    // variables in between, so they go on in the end, and last those that would take its steps too early.
    for (uint8_t r = 0; r < kRanks; ++r) {
      bool any = false;
      for (uint32_t i = 0; i < decision.count; ++i) any |= open_[i] = rank_[i] == static_cast<Rank>(r);
      if (!any) continue;
      const bool outside = static_cast<Rank>(r) == Rank::Bystander || static_cast<Rank>(r) == Rank::Creator;
      if (outside && named_ && in_turn_) return first_open(decision);
      if (static_cast<Rank>(r) <= Rank::Bystander) return choose_open(decision, open_, random_);
      if (at_ > 0) hold_.note_given_up();
      if (releases_++ < kMostReleases) return choose_open(decision, open_, random_);
      restart();
      break;
    }
    for (uint32_t i = 0; i < decision.count; ++i) open_[i] = true;
    return choose_open(decision, open_, random_);
  }

  uint32_t first_open(const Decision& decision) const {
    uint32_t first = kNobody;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (!open_[i]) continue;
      if (!decision.yields || i != decision.running) return i;
      first = i;
    }
    return first;
  }

  bool can_take(const Candidate& candidate, const Step& step) const {
    if (!stands_at(candidate.operation, step.pc, step.calls) ||
        !same_kind(candidate.operation.kind, step.kind))
      return false;
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

  Rank rank(const Candidate& candidate) const {
    for (uint32_t s = at_ + 1; s < count_; ++s)
      if (can_take(candidate, steps_[s])) return Rank::Overtakes;
    if (at_ > 0 && is_memory(candidate.operation.kind) && writes(candidate.operation.kind)) {
      for (uint32_t v = 0; v < kMaxNames; ++v) {
        if (addresses_[v] == 0) continue;
        const Operation variable = {EventKind::Write, 0, sizes_[v], addresses_[v], 0};
        if (conflict(candidate.operation, variable)) return Rank::TouchesVariable;
      }
      for (uint32_t s = at_; s < count_; ++s)
        if (stands_at(candidate.operation, steps_[s].pc, steps_[s].calls) &&
            addresses_[steps_[s].variable % kMaxNames] == 0)
          return Rank::TouchesPlace;
    }
    if (!named_) return Rank::Next;
    const uint32_t next = roles_[steps_[at_].role % kMaxNames];
    if (candidate.thread == next) return Rank::Next;
    if (is_bound(candidate.thread)) return Rank::Member;
    return next != kNobody && next > newest_ ? Rank::Creator : Rank::Bystander;
  }

  void restart() {
    at_ = 0;
    releases_ = 0;
    for (auto& role : roles_) role = kNobody;
    for (auto& address : addresses_) address = 0;
    for (uint32_t s = 0; s < count_; ++s)
      if (steps_[s].thread != format::kPlanNone) roles_[steps_[s].role % kMaxNames] = steps_[s].thread;
  }

  Random random_;
  Hold hold_;
  const Step* steps_ = nullptr;
  static constexpr uint32_t kMostReleases = 64;  // in one attempt
  uint32_t count_ = 0, at_ = 0, releases_ = 0, newest_ = 0;
  static constexpr uint64_t kPatience = 3;  // times the expected length, then the attempt is over
  uint64_t skip_ = 0, last_ = UINT64_MAX;
  bool done_ = false, over_ = false, passes_ = false, named_ = false, in_turn_ = false;
  uint32_t roles_[kMaxNames] = {}, sizes_[kMaxNames] = {};
  uintptr_t addresses_[kMaxNames] = {};
  bool open_[kMaxCandidates] = {};
  Rank rank_[kMaxCandidates] = {};
};

constinit SequenceDirected strategy;

}  // namespace

Strategy* sequence_directed() { return &strategy; }

}  // namespace simrt::rt::control
