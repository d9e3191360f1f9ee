// Reads-from constraints: the proactive scheduler of Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing
// for Concurrency Testing" (RFF), ASPLOS 2024, section 4. Each pair of the plan is a constraint on what a
// read is to see: with first_then_second the write's value, else a value from before that write. Threads that
// would break a constraint that is still open are held; the others go on by partial order sampling.
#include "control/hold.h"
#include "control/strategies/list.h"
#include "simrt/format/run.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxCandidates = 1024;
constexpr uint32_t kMaxPairs = 64;
constexpr uint32_t kMaxThreads = 1024;

class ReadsFrom final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    hold_.begin(settings.hold);
    pairs_ = settings.pairs;
    count_ = settings.pair_count < kMaxPairs ? settings.pair_count : kMaxPairs;
    for (uint32_t i = 0; i < kMaxPairs; ++i) state_[i] = {};
    for (auto& priority : priorities_) priority = 0;
    open_pairs_ = count_;
    releases_ = 0;
    last_ = settings.length == 0 ? UINT64_MAX : kPatience * settings.length + 1000;
  }

  uint32_t choose(const Decision& decision) override {
    const uint32_t chosen = pick(decision);
    const Candidate& next = decision.candidates[chosen];
    hold_.passed(next);
    if (is_memory(next.operation.kind)) note(next.operation);
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (i == chosen || conflict(decision.candidates[i].operation, next.operation))
        priorities_[decision.candidates[i].thread % kMaxThreads] = 0;
    }
    return chosen;
  }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

  uint32_t flags() const override {
    return (count_ > 0 && open_pairs_ == 0 ? format::kRunSequenceDone : 0u) |
           (hold_.given_up() ? format::kRunHoldGivenUp : 0u);
  }

 private:
  /// How far a constraint is: open, its write has happened (at `address`), or over.
  struct State {
    bool armed = false, over = false;
    uintptr_t address = 0;
    uint32_t size = 0;
  };

  bool is_first(uint32_t pair, const Operation& operation) const {
    return stands_at(operation, pairs_[pair].first, pairs_[pair].first_calls);
  }
  bool is_second(uint32_t pair, const Operation& operation) const {
    return stands_at(operation, pairs_[pair].second, pairs_[pair].second_calls);
  }

  static bool overlap(const Operation& operation, const State& state) {
    return operation.object < state.address + state.size && state.address < operation.object + operation.size;
  }

  // The write has happened, and this is the read that is to see it.
  bool fulfils(const Operation& operation) const {
    for (uint32_t p = 0; p < count_; ++p) {
      const State& state = state_[p];
      if (!state.over && state.armed && is_second(p, operation) && overlap(operation, state)) return true;
    }
    return false;
  }

  bool breaks(const Operation& operation) const {
    for (uint32_t p = 0; p < count_; ++p) {
      const State& state = state_[p];
      if (state.over) continue;
      if (!pairs_[p].first_then_second) {
        if (is_first(p, operation)) return true;  // the read has not happened yet
      } else if (!state.armed) {
        if (is_second(p, operation)) return true;  // the write has not happened yet
      } else if (writes(operation.kind) && overlap(operation, state)) {
        return true;  // would hide the write from the read
      }
    }
    return false;
  }

  void note(const Operation& operation) {
    for (uint32_t p = 0; p < count_; ++p) {
      State& state = state_[p];
      if (state.over) continue;
      const bool reads = is_second(p, operation);
      if (!pairs_[p].first_then_second) {
        if (reads || is_first(p, operation)) finish(state);
      } else if (state.armed && (reads || writes(operation.kind)) && overlap(operation, state)) {
        finish(state);
      } else if (is_first(p, operation) && writes(operation.kind)) {
        state.armed = true;
        state.address = operation.object;
        state.size = operation.size == 0 ? 1 : operation.size;
      }
    }
  }

  void finish(State& state) {
    state.over = true;
    --open_pairs_;
  }

  uint32_t pick(const Decision& decision) {
    if (decision.number > last_ && open_pairs_ > 0) {
      hold_.note_given_up();
      for (uint32_t p = 0; p < count_; ++p)
        if (!state_[p].over) finish(state_[p]);
    }
    if (open_pairs_ == 0) return highest(decision, nullptr);
    for (uint32_t i = 0; i < decision.count; ++i) {
      const Operation& operation = decision.candidates[i].operation;
      if (is_memory(operation.kind) && fulfils(operation)) return i;
    }
    uint32_t open = 0;
    for (uint32_t i = 0; i < decision.count; ++i) {
      const Operation& operation = decision.candidates[i].operation;
      open_[i] = !is_memory(operation.kind) || !breaks(operation) ||
                 !hold_.keep(decision.candidates[i], decision.number);
      open += open_[i] ? 1 : 0;
    }
    if (open > 0) return highest(decision, open_);
    // Nobody is left. A constraint speaks of one read and one write of many: one of those that are held goes
    // on; but the constraints may also contradict each other, or the program.
    hold_.note_given_up();
    if (++releases_ > kMostReleases)
      for (uint32_t p = 0; p < count_; ++p)
        if (!state_[p].over) finish(state_[p]);
    return highest(decision, nullptr);
  }

  // Partial order sampling among those that are open.
  uint32_t highest(const Decision& decision, const bool* open) {
    uint32_t best = kNobody, last = kNobody;
    for (uint32_t i = 0; i < decision.count; ++i) {
      if (open != nullptr && !open[i]) continue;
      last = i;
      if (decision.yields && i == decision.running && decision.count > 1) continue;
      uint64_t& priority = priorities_[decision.candidates[i].thread % kMaxThreads];
      if (priority == 0) priority = random_.next() | 1;
      if (best == kNobody || priority > priorities_[decision.candidates[best].thread % kMaxThreads]) best = i;
    }
    return best != kNobody ? best : last;
  }

  Random random_;
  Hold hold_;
  const SitePair* pairs_ = nullptr;
  static constexpr uint32_t kMostReleases = 64;
  static constexpr uint64_t kPatience = 3;  // times the expected length
  uint64_t last_ = UINT64_MAX;
  uint32_t count_ = 0, open_pairs_ = 0, releases_ = 0;
  State state_[kMaxPairs] = {};
  bool open_[kMaxCandidates] = {};
  uint64_t priorities_[kMaxThreads] = {};  // of the thread's pending operation; 0 = to be drawn
};

constinit ReadsFrom strategy;

}  // namespace

Strategy* reads_from() { return &strategy; }

}  // namespace simrt::rt::control
