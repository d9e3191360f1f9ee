// Shares a budget of executions among named strategies and shifts it to those that find new coverage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simrt::schedule {

/// A bandit: discounted UCB (Garivier and Moulines, ALT 2011), because what a strategy still has to find gets
/// less as it goes. The reward of an execution is its new coverage on a logarithmic scale. Deterministic in
/// its seed, which breaks ties only.
class Portfolio {
 public:
  struct Strategy {
    std::string name;
    std::uint64_t executions = 0;
    std::uint64_t new_coverage = 0;
    std::uint64_t failures = 0;
    bool finished = false;
  };

  Portfolio(std::vector<std::string> names, std::uint64_t budget, std::uint64_t seed);

  /// Index of the strategy that runs next (at first each once, in their order); nothing when the budget is
  /// spent or all have finished.
  std::optional<std::size_t> next();
  /// Runs this one next, whatever it is worth; false when the budget is spent or it has finished.
  bool take(std::size_t strategy);
  /// What an execution of the strategy brought: so many instances that were not covered before.
  void report(std::size_t strategy, std::uint64_t new_coverage, bool failed);
  /// The strategy, whose turn it is, has nothing left to run (a systematic search that ended): its turn is
  /// another one's.
  void finish(std::size_t strategy) {
    strategies_[strategy].finished = true;
    ++left_;
  }

  const std::vector<Strategy>& strategies() const { return strategies_; }
  std::uint64_t left() const { return left_; }

 private:
  struct Value {
    double tries = 0, reward = 0;  ///< discounted
  };
  std::vector<Strategy> strategies_;
  std::vector<Value> values_;
  std::uint64_t left_;
  std::uint64_t random_;
};

}  // namespace simrt::schedule
