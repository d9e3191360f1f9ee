#include "select/greedy.h"

#include <algorithm>
#include <queue>

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

class Greedy {
 public:
  Greedy(const std::vector<GreedyTest>& tests, const std::vector<std::uint32_t>& weights)
      : tests_(tests),
        weights_(weights),
        columns_(tests, weights.size()),
        remaining_(weights.size()),
        uncovered_(weights.size()),
        picked_(tests.size()),
        whole_gain_(tests.size()),
        gain_(tests.size()),
        valid_(tests.size()) {
    for (Index goal = 0; goal < weights.size(); ++goal) remaining_[goal] = columns_.size(goal);
    for (Index test = 0; test < tests.size(); ++test) {
      for (Index goal : tests[test].goals) whole_gain_[test] += weights[goal];
      if (!tests[test].goals.empty()) fresh_order_.push_back(test);
    }
    std::sort(fresh_order_.begin(), fresh_order_.end(),
              [&](Index a, Index b) { return entry(a, whole_gain_[a]) > entry(b, whole_gain_[b]); });
  }

  std::vector<GreedyPick> run() {
    // At each start all gains are whole again, so its first pick is the next of a fixed order.
    for (Index first : fresh_order_) {
      if (picked_[first]) continue;
      start_over();
      pick(first, true);
      while (open_goals_ != 0) pick(best_in_heap(), false);
    }
    return std::move(picks_);
  }

 private:
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
      uncovered_[goal] = remaining_[goal] != 0;
      open_goals_ += uncovered_[goal];
      if (uncovered_[goal]) open_size_ += columns_.size(goal);
    }
  }

  /// Takes a test and brings the gains of the others up to date. `whole`: so far these are whole_gain_.
  void pick(Index test, bool whole) {
    picked_[test] = true;
    GreedyPick result{test, 0, {}};
    std::size_t covered_size = 0;
    for (Index goal : tests_[test].goals) {
      --remaining_[goal];
      if (!uncovered_[goal]) continue;
      uncovered_[goal] = false;
      result.gain += weights_[goal];
      result.added.push_back(goal);
      covered_size += columns_.size(goal);
      --open_goals_;
    }
    open_size_ -= covered_size;
    if (open_goals_ != 0) {
      if (open_size_ < covered_size + (whole ? tests_.size() : 0))
        count_anew();
      else
        subtract(result.added, whole);
    }
    picks_.push_back(std::move(result));
  }

  void count_anew() {
    ++version_;
    std::vector<Index> touched;
    for (Index goal = 0; goal < weights_.size(); ++goal) {
      if (!uncovered_[goal]) continue;
      for (const Index* test = columns_.begin(goal); test != columns_.end(goal); ++test) {
        if (picked_[*test]) continue;
        if (valid_[*test] != version_) {
          valid_[*test] = version_;
          gain_[*test] = 0;
          touched.push_back(*test);
        }
        gain_[*test] += weights_[goal];
      }
    }
    fill_heap(touched);
  }

  void subtract(const std::vector<Index>& covered, bool whole) {
    std::vector<Index> all;
    if (whole) {
      ++version_;
      for (Index test : fresh_order_) {
        if (picked_[test]) continue;
        valid_[test] = version_;
        gain_[test] = whole_gain_[test];
        all.push_back(test);
      }
    }
    for (Index goal : covered)
      for (const Index* test = columns_.begin(goal); test != columns_.end(goal); ++test)
        if (valid_[*test] == version_) gain_[*test] -= weights_[goal];
    if (whole) fill_heap(all);
  }

  void fill_heap(const std::vector<Index>& tests) {
    std::vector<Entry> entries;
    for (Index test : tests)
      if (gain_[test] != 0) entries.push_back(entry(test, gain_[test]));
    heap_ = std::priority_queue<Entry>(std::less<Entry>(), std::move(entries));
  }

  /// There is one as long as a goal is open: some remaining test covers it.
  Index best_in_heap() {
    for (;;) {
      const Entry top = heap_.top();
      heap_.pop();
      if (picked_[top.test] || gain_[top.test] == 0) continue;
      const Entry now = entry(top.test, gain_[top.test]);
      if (now.key == top.key) return top.test;
      heap_.push(now);
    }
  }

  const std::vector<GreedyTest>& tests_;
  const std::vector<std::uint32_t>& weights_;
  const Columns columns_;
  std::vector<std::size_t> remaining_;  ///< by goal: tests not yet picked that cover it
  std::vector<char> uncovered_;  ///< by goal: not covered since the last start, and some remaining test does
  std::size_t open_goals_ = 0;   ///< how many of them
  std::size_t open_size_ = 0;    ///< the sum of their columns
  std::vector<char> picked_;
  std::vector<std::uint32_t> whole_gain_;
  std::vector<std::uint32_t> gain_;  ///< where valid_ is version_; else zero
  std::vector<std::uint64_t> valid_;
  std::uint64_t version_ = 0;
  std::vector<Index> fresh_order_;
  std::priority_queue<Entry> heap_;
  std::vector<GreedyPick> picks_;
};

}  // namespace

std::vector<GreedyPick> greedy_order(const std::vector<GreedyTest>& tests,
                                     const std::vector<std::uint32_t>& weights) {
  return Greedy(tests, weights).run();
}

}  // namespace simrt::select
