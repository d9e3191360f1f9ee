// Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler
// with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010, section 3. Threads have random priorities; the
// highest goes on; at d - 1 points chosen at random among the expected length the running thread falls below
// all others. A thread that yields or spins falls to the bottom, else it would hold up the others for ever.
#include "control/strategies/list.h"

namespace simrt::rt::control {
namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxChanges = 64;
constexpr uint64_t kDefaultLength = 1000;
constexpr uint32_t kDefaultDepth = 3;

class Pct final : public Strategy {
 public:
  void begin(const Settings& settings) override {
    random_.seed(settings.seed);
    for (auto& priority : priorities_) priority = 0;
    const uint64_t length = settings.length == 0 ? kDefaultLength : settings.length;
    const uint32_t depth = settings.depth == 0 ? kDefaultDepth : settings.depth;
    count_ = depth - 1 < kMaxChanges ? depth - 1 : kMaxChanges;
    for (uint32_t i = 0; i < count_; ++i) changes_[i] = 1 + random_.below(length);
    sort();
    next_ = 0;
    bottom_ = kLow;
    number_ = 0;
  }

  uint32_t choose(const Decision& decision) override {
    number_ = decision.number;
    for (; next_ < count_ && changes_[next_] <= decision.number; ++next_) {
      if (decision.running != kNobody) sink(decision.candidates[decision.running].thread);
    }
    if (decision.yields && decision.running != kNobody && decision.count > 1)
      sink(decision.candidates[decision.running].thread);
    uint32_t best = 0;
    for (uint32_t i = 1; i < decision.count; ++i) {
      if (priority(decision.candidates[i].thread) > priority(decision.candidates[best].thread)) best = i;
    }
    return best;
  }

  uint64_t patience() const override { return next_ < count_ ? changes_[next_] - number_ : UINT64_MAX; }

  uint32_t choose_waiter(uint32_t count) override { return static_cast<uint32_t>(random_.below(count)); }

 private:
  static constexpr uint64_t kLow = uint64_t{1} << 62;  // above: initial priorities; below: sunk, in order

  uint64_t& priority(uint32_t thread) {
    uint64_t& value = priorities_[thread % kMaxThreads];
    if (value == 0) value = kLow + 1 + random_.below(kLow);
    return value;
  }
  void sink(uint32_t thread) { priorities_[thread % kMaxThreads] = --bottom_; }
  void sort() {
    for (uint32_t i = 1; i < count_; ++i) {
      for (uint32_t j = i; j > 0 && changes_[j] < changes_[j - 1]; --j) {
        const uint64_t swapped = changes_[j];
        changes_[j] = changes_[j - 1];
        changes_[j - 1] = swapped;
      }
    }
  }

  Random random_;
  uint64_t priorities_[kMaxThreads] = {};  // 0 = not drawn yet
  uint64_t changes_[kMaxChanges] = {};
  uint32_t count_ = 0, next_ = 0;
  uint64_t bottom_ = kLow, number_ = 0;
};

constinit Pct strategy;

}  // namespace

Strategy* pct() { return &strategy; }

}  // namespace simrt::rt::control
