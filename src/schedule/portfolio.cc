#include "schedule/portfolio.h"

#include <algorithm>
#include <cmath>

#include "support/hash.h"

namespace simrt::schedule {
namespace {

constexpr double kDiscount = 0.98;  // an execution counts half after 34 others
constexpr double kCuriosity = 0.6;

double reward_of(std::uint64_t new_coverage) {
  return std::min(1.0, std::log2(1.0 + static_cast<double>(new_coverage)) / 10.0);
}

}  // namespace

Portfolio::Portfolio(std::vector<std::string> names, std::uint64_t budget, std::uint64_t seed)
    : values_(names.size()), left_(budget), random_(seed) {
  for (std::string& name : names) strategies_.push_back({.name = std::move(name)});
}

std::optional<std::size_t> Portfolio::next() {
  if (left_ == 0) return std::nullopt;
  double all = 0;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!strategies_[i].finished) all += values_[i].tries;
  std::vector<std::size_t> best;
  double highest = -1;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (strategies_[i].finished) continue;
    if (strategies_[i].executions == 0) {  // each in turn, in the given order, before any is judged
      best = {i};
      break;
    }
    const Value& value = values_[i];
    const double worth =
        value.reward / value.tries + kCuriosity * std::sqrt(std::log(std::max(all, 1.0)) / value.tries);
    if (worth > highest) {
      highest = worth;
      best.clear();
    }
    if (worth == highest) best.push_back(i);
  }
  if (best.empty()) return std::nullopt;
  --left_;
  random_ = hash_combine(random_, left_);
  return best[random_ % best.size()];
}

bool Portfolio::take(std::size_t strategy) {
  if (left_ == 0 || strategies_[strategy].finished) return false;
  --left_;
  return true;
}

void Portfolio::report(std::size_t strategy, std::uint64_t new_coverage, bool failed) {
  for (Value& value : values_) {
    value.tries *= kDiscount;
    value.reward *= kDiscount;
  }
  values_[strategy].tries += 1;
  values_[strategy].reward += reward_of(new_coverage);
  Strategy& one = strategies_[strategy];
  ++one.executions;
  one.new_coverage += new_coverage;
  one.failures += failed ? 1 : 0;
}

}  // namespace simrt::schedule
