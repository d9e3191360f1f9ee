#include <algorithm>
#include <limits>

#include "schedule/patterns/coverage.h"
#include "schedule/patterns/shared_variables.h"

namespace simrt::schedule {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturated(Wide value) { return static_cast<std::uint64_t>(std::min(value, kMost)); }

}  // namespace

std::size_t AccessTable::root(std::size_t at) const {
  while (parents_[at] != at) at = parents_[at];
  return at;
}

std::size_t AccessTable::number(SiteId site) {
  const auto [at, fresh] = numbers_.try_emplace(site, sites_.size());
  if (fresh) {
    sites_.push_back(site);
    touches_.emplace_back();
    parents_.push_back(at->second);
  }
  return at->second;
}

void AccessTable::join(SiteId a, SiteId b) {
  const std::size_t one = root(number(a)), other = root(number(b));
  parents_[std::max(one, other)] = std::min(one, other);
}

void AccessTable::add(const Execution& execution) {
  const SharedVariables shared(execution);
  std::vector<SiteId> first(shared.count());
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    for (const VariableNumber variable : shared.touched_by(i)) {
      Touch& touch = touches_[number(event.site)];
      touch.reads |= reads_memory(event.kind);
      touch.writes |= writes_memory(event.kind);
      if (!first[variable]) first[variable] = event.site;
      if (first[variable] != event.site) join(first[variable], event.site);
    }
  }
  std::set<std::size_t> met;
  for (const SiteId site : first)
    if (const std::size_t variable = root(number(site)); !met.insert(variable).second) several_.insert(site);
}

void AccessTable::merge(const AccessTable& other) {
  for (std::size_t i = 0; i < other.sites_.size(); ++i) {
    Touch& touch = touches_[number(other.sites_[i])];
    touch.reads |= other.touches_[i].reads;
    touch.writes |= other.touches_[i].writes;
    join(other.sites_[i], other.sites_[other.root(i)]);
  }
  several_.insert(other.several_.begin(), other.several_.end());
}

std::vector<AccessTable::Variable> AccessTable::variables() const {
  std::map<std::size_t, Variable> by_root;
  for (const auto& [site, number] : numbers_) {
    Variable& variable = by_root[root(number)];
    if (touches_[number].reads) variable.readers.insert(site);
    if (touches_[number].writes) variable.writers.insert(site);
    variable.several |= several_.contains(site);
  }
  std::vector<Variable> all;
  for (auto& [root, variable] : by_root) all.push_back(std::move(variable));
  return all;
}

std::uint64_t AccessTable::total_one_variable() const {
  Wide sum = 0;
  for (const Variable& variable : variables()) {
    const Wide r = variable.readers.size(), w = variable.writers.size();
    sum += 2 * r * w + w * w + r * r * w + 3 * r * w * w + w * w * w;
  }
  return saturated(sum);
}

std::uint64_t AccessTable::total_two_variables() const {
  // Sum over x != y of f(x) f(y) = (sum f)^2 - sum f^2, and again f(x)^2 where x itself stands for several.
  Wide writes = 0, both = 0, same = 0;
  for (const Variable& variable : variables()) {
    const Wide r = variable.readers.size(), w = variable.writers.size();
    writes += w * w;
    both += r * w;
    if (!variable.several) same += 3 * (w * w) * (w * w) + 6 * (r * w) * (r * w);
  }
  return saturated(3 * writes * writes + 6 * both * both - same);
}

std::uint64_t AccessTable::total() const {
  return saturated(static_cast<Wide>(total_one_variable()) + total_two_variables());
}

}  // namespace simrt::schedule
