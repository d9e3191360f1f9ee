#include "select/greedy.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace simrt::select {
namespace {

using Index = std::uint32_t;

/// Bits set in both `a` and `b`, in the words listed.
[[gnu::always_inline]] inline std::uint32_t common_bits(const std::vector<Index>& words,
                                                        const std::uint64_t* a, const std::uint64_t* b) {
  std::uint32_t total = 0;
  for (const Index word : words) total += static_cast<std::uint32_t>(__builtin_popcountll(a[word] & b[word]));
  return total;
}

using CountCommonBits = std::uint32_t (*)(const std::vector<Index>&, const std::uint64_t*,
                                          const std::uint64_t*);

std::uint32_t common_bits_anywhere(const std::vector<Index>& words, const std::uint64_t* a,
                                   const std::uint64_t* b) {
  return common_bits(words, a, b);
}

#if defined(__x86_64__)
/// Generic x86-64 lacks the instruction, which is several times as fast.
[[gnu::target("popcnt")]] std::uint32_t common_bits_popcnt(const std::vector<Index>& words,
                                                           const std::uint64_t* a, const std::uint64_t* b) {
  return common_bits(words, a, b);
}
#endif

CountCommonBits count_for_this_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return common_bits_popcnt;
#endif
  return common_bits_anywhere;
}

const CountCommonBits count_common_bits = count_for_this_processor();

/// Which goals are open, and how much of that a test covers. A goal of many tests takes as many bits as it
/// weighs in a row of each test, so that counting bits is all there is to do; those of few tests (or all,
/// where the rows would take too much memory) are taken off what their tests add when they close.
/// `Stored`: an unsigned type that has room for the number of a test. The lists are most of the memory that a
/// pick goes through.
template <class Stored>
class Openness {
 public:
  /// `covering`: how many tests cover each goal.
  Openness(const std::vector<GreedyTest>& tests, const std::vector<std::uint32_t>& weights,
           const std::vector<std::uint32_t>& covering)
      : weights_(weights), value_(weights.size()), first_bit_(weights.size(), kListed) {
    std::uint64_t bits = 0;
    for (Index goal = 0; goal < weights.size(); ++goal) {
      if (std::uint64_t{covering[goal]} * kManyTests < tests.size()) continue;
      first_bit_[goal] = static_cast<std::uint32_t>(bits);  // of use only where all rows are small
      bits += weights[goal];
    }
    words_ = (bits + 63) / 64;
    if (words_ * tests.size() > kWordsAtMost) {
      words_ = 0;
      first_bit_.assign(weights.size(), kListed);
    }
    open_.resize(words_);
    rows_.resize(words_ * tests.size());
    list_tests(tests, covering);
  }

  std::uint32_t value(Index goal) const { return value_[goal]; }
  /// Opens these goals and no others: at least those of every test that gain() is asked of.
  template <class IsOpen>
  void start(IsOpen is_open) {
    for (Index goal = 0; goal < weights_.size(); ++goal) {
      value_[goal] = is_open(goal) ? weights_[goal] : 0;
      if (first_bit_[goal] != kListed) set(open_.data(), goal, value_[goal] != 0);
    }
    gains_ = whole_;
  }
  void close(const std::vector<Index>& goals) {
    constexpr std::size_t kAhead = 4;  // short lists lie far apart in memory
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (i + kAhead < goals.size()) __builtin_prefetch(&covered_by_[from_[goals[i + kAhead]]]);
      const Index goal = goals[i];
      if (first_bit_[goal] != kListed) set(open_.data(), goal, false);
      const std::uint32_t value = value_[goal];
      for (std::size_t at = from_[goal]; at < from_[goal + 1]; ++at) gains_[covered_by_[at]] -= value;
      value_[goal] = 0;
    }
  }
  /// gain() looks only at the words that held an open goal at the last call: needed after goals were opened,
  /// useful after many were closed.
  void list_open_words() {
    words_listed_.clear();
    for (Index word = 0; word < words_; ++word)
      if (open_[word] != 0) words_listed_.push_back(word);
  }
  std::uint32_t gain(Index test) const {
    return gains_[test] + count_common_bits(words_listed_, rows_.data() + test * words_, open_.data());
  }

 private:
  static constexpr std::size_t kManyTests = 32;           // one in so many
  static constexpr std::size_t kWordsAtMost = 8'000'000;  // 64 MB
  static constexpr std::uint32_t kListed = UINT32_MAX;

  void set(std::uint64_t* words, Index goal, bool on) const {
    for (std::uint64_t bit = first_bit_[goal], end = bit + weights_[goal]; bit < end; ++bit) {
      const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
      words[bit / 64] = on ? words[bit / 64] | mask : words[bit / 64] & ~mask;
    }
  }

  void list_tests(const std::vector<GreedyTest>& tests, const std::vector<std::uint32_t>& covering) {
    from_.push_back(0);
    for (Index goal = 0; goal < weights_.size(); ++goal)
      from_.push_back(from_.back() + (first_bit_[goal] == kListed ? covering[goal] : 0));
    covered_by_.resize(from_.back() + 1);  // one more: an empty list has a place, too
    whole_.resize(tests.size());
    std::vector<std::size_t> next = from_;
    for (Index test = 0; test < tests.size(); ++test) {
      for (Index goal : tests[test].goals) {
        if (first_bit_[goal] != kListed) {
          set(&rows_[test * words_], goal, true);
          continue;
        }
        covered_by_[next[goal]++] = static_cast<Stored>(test);
        whole_[test] += weights_[goal];
      }
    }
  }

  const std::vector<std::uint32_t>& weights_;
  std::vector<std::uint32_t> value_;      ///< by goal: its weight while it is open, else 0
  std::vector<std::uint32_t> first_bit_;  ///< by goal; kListed: it has no bits
  std::size_t words_ = 0;                 ///< in a row
  std::vector<std::uint64_t> open_, rows_;
  std::vector<Index> words_listed_;  ///< every word with an open goal is among them
  std::vector<std::size_t> from_;    ///< by goal: where its tests begin in covered_by_; none if it has bits
  std::vector<Stored> covered_by_;
  std::vector<std::uint32_t> whole_, gains_;  ///< by test: of listed goals, when all are open, and now
};

std::vector<std::uint32_t> count_tests(const std::vector<GreedyTest>& tests, std::size_t goals) {
  std::vector<std::uint32_t> covering(goals);
  for (const GreedyTest& test : tests)
    for (Index goal : test.goals) ++covering[goal];
  return covering;
}

/// Wants the tests in the order of what they cover altogether (then memory is read in the order in which the
/// tests are compared). `Stored` as for Openness.
template <class Stored>
class Greedy {
 public:
  Greedy(const std::vector<GreedyTest>& tests, const std::vector<std::uint32_t>& weights)
      : tests_(tests),
        remaining_(count_tests(tests, weights.size())),
        open_(tests, weights, remaining_),
        picked_(tests.size()) {}

  std::vector<GreedyPick> run() {
    // At each start all gains are whole again, so its first pick is the next in order.
    for (Index first = 0; first < tests_.size(); ++first) {
      if (picked_[first]) continue;
      start_over(first);
      pick(first);
      while (open_goals_ != 0) {
        if (open_size_ < counted_size_ / kShrunk || evaluated_ > adding_.size() / kEvaluated) fill_heap();
        pick(best_in_heap());
      }
    }
    return std::move(picks_);
  }

 private:
  /// Counting anew pays when no more than one in kShrunk is left of what was counted last, or when one in
  /// kEvaluated of those tests was looked at since.
  static constexpr std::size_t kShrunk = 4, kEvaluated = 8;

  struct Entry {
    double key;
    std::uint64_t tie_break;
    Index test;
    bool operator<(const Entry& other) const {  // the largest is the best
      if (key != other.key) return key < other.key;
      if (tie_break != other.tie_break) return tie_break > other.tie_break;
      return test > other.test;
    }
    bool operator>(const Entry& other) const { return other < *this; }
  };

  Entry entry(Index test, std::uint32_t gain) const {
    return {static_cast<double>(gain) / tests_[test].cost, tests_[test].tie_break, test};
  }

  /// Opens all goals that a test from `first` on still covers.
  void start_over(Index first) {
    open_goals_ = open_size_ = 0;
    open_.start([&](Index goal) {
      open_goals_ += remaining_[goal] != 0 ? 1 : 0;
      open_size_ += remaining_[goal];
      return remaining_[goal] != 0;
    });
    adding_.clear();
    for (Index test = first; test < tests_.size(); ++test)
      if (!picked_[test]) adding_.push_back(test);
    counted_size_ = kNothingCounted;
  }

  void pick(Index test) {
    picked_[test] = true;
    GreedyPick result{test, 0, {}};
    for (Index goal : tests_[test].goals) {
      if (open_.value(goal) != 0) {
        result.gain += open_.value(goal);
        result.added.push_back(goal);
        open_size_ -= remaining_[goal];
      }
      --remaining_[goal];
    }
    open_goals_ -= result.added.size();
    open_.close(result.added);
    picks_.push_back(std::move(result));
  }

  /// Brings the gains of the remaining tests up to date; those that add nothing are left out until the next
  /// start.
  void fill_heap() {
    open_.list_open_words();
    std::vector<Entry> entries;
    std::size_t kept = 0;
    for (Index test : adding_) {
      const std::uint32_t gain = picked_[test] ? 0 : open_.gain(test);
      if (gain == 0) continue;
      adding_[kept++] = test;
      entries.push_back(entry(test, gain));
    }
    adding_.resize(kept);
    heap_ = std::priority_queue<Entry>(std::less<Entry>(), std::move(entries));
    counted_size_ = open_size_;
    evaluated_ = 0;
  }

  /// There is one as long as a goal is open: some remaining test covers it.
  Index best_in_heap() {
    for (;;) {
      const Entry top = heap_.top();
      heap_.pop();
      const std::uint32_t gain = open_.gain(top.test);
      ++evaluated_;
      if (gain == 0) continue;
      const Entry now = entry(top.test, gain);
      if (heap_.empty() || now > heap_.top()) return top.test;
      heap_.push(now);
    }
  }

  static constexpr std::size_t kNothingCounted = std::numeric_limits<std::size_t>::max();

  const std::vector<GreedyTest>& tests_;
  std::vector<std::uint32_t> remaining_;  ///< by goal: tests not yet picked that cover it
  Openness<Stored> open_;
  std::size_t open_goals_ = 0;    ///< not covered since the last start, though a remaining test could
  std::size_t open_size_ = 0;     ///< remaining tests of the open goals, one by one
  std::size_t counted_size_ = 0;  ///< open_size_ when the heap was filled
  std::size_t evaluated_ = 0;     ///< gains looked at since then
  std::vector<Index> adding_;     ///< all tests that still add something are among them
  std::vector<char> picked_;
  std::priority_queue<Entry> heap_;  ///< keys are upper bounds: gains only shrink between two starts
  std::vector<GreedyPick> picks_;
};

}  // namespace

std::vector<GreedyPick> greedy_order(const std::vector<GreedyTest>& tests,
                                     const std::vector<std::uint32_t>& weights) {
  struct Whole {
    double key;
    Index test;
  };
  std::vector<Whole> order;
  for (Index test = 0; test < tests.size(); ++test) {
    std::uint32_t gain = 0;
    for (Index goal : tests[test].goals) gain += weights[goal];
    if (gain != 0) order.push_back({static_cast<double>(gain) / tests[test].cost, test});
  }
  std::sort(order.begin(), order.end(), [&](const Whole& a, const Whole& b) {
    if (a.key != b.key) return a.key > b.key;
    return std::tie(tests[a.test].tie_break, a.test) < std::tie(tests[b.test].tie_break, b.test);
  });
  std::vector<GreedyTest> sorted;
  for (const Whole& whole : order) sorted.push_back(tests[whole.test]);
  std::vector<GreedyPick> picks = sorted.size() <= UINT16_MAX ? Greedy<std::uint16_t>(sorted, weights).run()
                                                              : Greedy<Index>(sorted, weights).run();
  for (GreedyPick& pick : picks) pick.test = order[pick.test].test;
  return picks;
}

}  // namespace simrt::select
