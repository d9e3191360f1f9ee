#include "select/greedy.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace simrt::select {
namespace {

using Index = std::uint32_t;

/// Tests by goal, in one array.
class Columns {
 public:
  Columns(const std::vector<GreedyTest>& tests, std::size_t goals) : start_(goals + 1) {
    for (const GreedyTest& test : tests)
      for (Index goal : test.goals) ++start_[goal + 1];
    for (std::size_t goal = 0; goal < goals; ++goal) start_[goal + 1] += start_[goal];
    tests_.resize(start_[goals]);
    std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
    for (Index test = 0; test < tests.size(); ++test)
      for (Index goal : tests[test].goals) tests_[next[goal]++] = test;
  }
  std::size_t size(Index goal) const { return start_[goal + 1] - start_[goal]; }
  const Index* begin(Index goal) const { return tests_.data() + start_[goal]; }
  const Index* end(Index goal) const { return tests_.data() + start_[goal + 1]; }

 private:
  std::vector<std::size_t> start_;
  std::vector<Index> tests_;
};

/// Bits that are set in both. Sums up bytes before words: without a popcount instruction (generic x86-64)
/// several times as fast as std::popcount, and simple enough for the compiler to vectorise.
[[gnu::always_inline]] inline std::uint32_t common_bits(const std::uint64_t* a, const std::uint64_t* b,
                                                        std::size_t words) {
  constexpr std::size_t kRun = 31;  // 31 * 8 bits still fit into a byte
  std::uint32_t total = 0;
  for (std::size_t start = 0; start < words; start += kRun) {
    const std::size_t end = std::min(words, start + kRun);
    std::uint64_t bytes = 0;
    for (std::size_t i = start; i < end; ++i) {
      std::uint64_t x = a[i] & b[i];
      x -= (x >> 1) & 0x5555555555555555;
      x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
      bytes += (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
    }
    const std::uint64_t pairs = (bytes & 0x00FF00FF00FF00FF) + ((bytes >> 8) & 0x00FF00FF00FF00FF);
    total += static_cast<std::uint32_t>((pairs * 0x0001000100010001) >> 48);
  }
  return total;
}

using CountCommonBits = std::uint32_t (*)(const std::uint64_t*, const std::uint64_t*, std::size_t);

std::uint32_t common_bits_anywhere(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  return common_bits(a, b, words);
}

#if defined(__x86_64__)
/// With the instruction the plain loop is the fastest one.
[[gnu::target("popcnt")]] std::uint32_t common_bits_popcnt(const std::uint64_t* a, const std::uint64_t* b,
                                                           std::size_t words) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < words; ++i)
    total += static_cast<std::uint32_t>(__builtin_popcountll(a[i] & b[i]));
  return total;
}
#endif

CountCommonBits count_for_this_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return common_bits_popcnt;
#endif
  return common_bits_anywhere;
}

const CountCommonBits count_common_bits = count_for_this_processor();

/// Which goals are open, and how much of that a test covers. A goal takes as many bits as it weighs, so that
/// counting bits is all there is to do; where that would take too much memory, the goals are added up one by
/// one.
class Openness {
 public:
  Openness(const std::vector<GreedyTest>& tests, const std::vector<std::uint32_t>& weights)
      : tests_(tests), weights_(weights), value_(weights.size()), first_bit_(weights.size()) {
    std::size_t bits = 0;
    for (Index goal = 0; goal < weights.size(); ++goal) {
      first_bit_[goal] = bits;
      bits += weights[goal];
    }
    words_ = (bits + 63) / 64;
    if (words_ * tests.size() > kWordsAtMost) words_ = 0;
    open_.resize(words_);
    rows_.resize(words_ * tests.size());
    if (words_ == 0) return;
    for (Index test = 0; test < tests.size(); ++test)
      for (Index goal : tests[test].goals) set(&rows_[test * words_], goal, true);
  }

  std::uint32_t value(Index goal) const { return value_[goal]; }
  void set(Index goal, bool open) {
    value_[goal] = open ? weights_[goal] : 0;
    if (words_ != 0) set(open_.data(), goal, open);
  }
  std::uint32_t gain(Index test) const {
    if (words_ == 0) {
      std::uint32_t sum = 0;
      for (Index goal : tests_[test].goals) sum += value_[goal];
      return sum;
    }
    return count_common_bits(&rows_[test * words_], open_.data(), words_);
  }

 private:
  static constexpr std::size_t kWordsAtMost = 8'000'000;  // 64 MB

  void set(std::uint64_t* words, Index goal, bool on) const {
    for (std::size_t bit = first_bit_[goal]; bit < first_bit_[goal] + weights_[goal]; ++bit) {
      const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
      words[bit / 64] = on ? words[bit / 64] | mask : words[bit / 64] & ~mask;
    }
  }

  const std::vector<GreedyTest>& tests_;
  const std::vector<std::uint32_t>& weights_;
  std::vector<std::uint32_t> value_;    ///< by goal: its weight while it is open, else 0
  std::vector<std::size_t> first_bit_;  ///< by goal
  std::size_t words_ = 0;               ///< in a row; 0 = no rows
  std::vector<std::uint64_t> open_, rows_;
};

/// Wants the tests in the order of what they cover altogether (then memory is read in the order in which the
/// tests are compared).
class Greedy {
 public:
  Greedy(const std::vector<GreedyTest>& tests, const std::vector<std::uint32_t>& weights)
      : tests_(tests),
        weights_(weights),
        columns_(tests, weights.size()),
        remaining_(weights.size()),
        open_(tests, weights),
        picked_(tests.size()) {
    for (Index goal = 0; goal < weights.size(); ++goal) remaining_[goal] = columns_.size(goal);
  }

  std::vector<GreedyPick> run() {
    // At each start all gains are whole again, so its first pick is the next in order.
    for (Index first = 0; first < tests_.size(); ++first) {
      if (picked_[first]) continue;
      start_over();
      pick(first);
      if (open_goals_ != 0) fill_heap();
      while (open_goals_ != 0) {
        pick(best_in_heap());
        if (open_size_ < counted_size_ / kShrunk) fill_heap();
      }
    }
    return std::move(picks_);
  }

 private:
  /// Counting anew pays when no more than this part is left of what was counted last.
  static constexpr std::size_t kShrunk = 8;

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

  void start_over() {
    open_goals_ = open_size_ = 0;
    for (Index goal = 0; goal < weights_.size(); ++goal) {
      open_.set(goal, remaining_[goal] != 0);
      if (remaining_[goal] == 0) continue;
      ++open_goals_;
      open_size_ += remaining_[goal];
    }
    whole_size_ = open_size_;
  }

  void pick(Index test) {
    picked_[test] = true;
    GreedyPick result{test, 0, {}};
    for (Index goal : tests_[test].goals) {
      if (open_.value(goal) != 0) {
        result.gain += open_.value(goal);
        result.added.push_back(goal);
        open_.set(goal, false);
        --open_goals_;
        open_size_ -= remaining_[goal];
      }
      --remaining_[goal];
    }
    picks_.push_back(std::move(result));
  }

  /// Brings the gains of the remaining tests up to date; those that add nothing are left out.
  void fill_heap() {
    std::vector<Entry> entries;
    if (open_size_ < whole_size_ / kShrunk)
      count_through_goals(entries);
    else
      count_by_test(entries);
    heap_ = std::priority_queue<Entry>(std::less<Entry>(), std::move(entries));
    counted_size_ = open_size_;
  }

  void count_by_test(std::vector<Entry>& entries) const {
    for (Index test = 0; test < tests_.size(); ++test)
      if (!picked_[test])
        if (const std::uint32_t gain = open_.gain(test); gain != 0) entries.push_back(entry(test, gain));
  }

  /// Looks only at the tests that still add something.
  void count_through_goals(std::vector<Entry>& entries) const {
    std::vector<std::uint32_t> gain(tests_.size());
    std::vector<Index> touched;
    for (Index goal = 0; goal < weights_.size(); ++goal) {
      if (open_.value(goal) == 0) continue;
      for (const Index* test = columns_.begin(goal); test != columns_.end(goal); ++test) {
        if (picked_[*test]) continue;
        if (gain[*test] == 0) touched.push_back(*test);
        gain[*test] += weights_[goal];
      }
    }
    for (Index test : touched) entries.push_back(entry(test, gain[test]));
  }

  /// There is one as long as a goal is open: some remaining test covers it.
  Index best_in_heap() {
    for (;;) {
      const Entry top = heap_.top();
      heap_.pop();
      const std::uint32_t gain = open_.gain(top.test);
      if (gain == 0) continue;
      const Entry now = entry(top.test, gain);
      if (heap_.empty() || now > heap_.top()) return top.test;
      heap_.push(now);
    }
  }

  const std::vector<GreedyTest>& tests_;
  const std::vector<std::uint32_t>& weights_;
  const Columns columns_;
  std::vector<std::size_t> remaining_;  ///< by goal: tests not yet picked that cover it
  Openness open_;
  std::size_t open_goals_ = 0;    ///< not covered since the last start, though a remaining test could
  std::size_t open_size_ = 0;     ///< remaining tests of the open goals, one by one
  std::size_t whole_size_ = 0;    ///< open_size_ at the start
  std::size_t counted_size_ = 0;  ///< open_size_ when the heap was filled
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
  std::vector<GreedyPick> picks = Greedy(sorted, weights).run();
  for (GreedyPick& pick : picks) pick.test = order[pick.test].test;
  return picks;
}

}  // namespace simrt::select
