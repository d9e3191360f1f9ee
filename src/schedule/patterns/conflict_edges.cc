#include "schedule/patterns/conflict_edges.h"

#include <algorithm>

namespace simrt::schedule {

void EarliestEnd::note(VariableNumber variable, StepTime end) {
  if (end_ == kNever) {
    variable_ = variable;
    end_ = end;
  } else if (end_elsewhere_ == kNever && variable != variable_) {
    end_elsewhere_ = end;
  }
}

StepTime EarliestEnd::other_than(VariableNumber variable) const {
  return variable == variable_ ? end_elsewhere_ : end_;
}

void LatestStart::note(VariableNumber variable, StepTime start) {
  if (start_ == 0 || variable == variable_) {
    variable_ = variable;
    start_ = std::max(start_, start);
    return;
  }
  if (start > start_) {
    second_variable_ = std::exchange(variable_, variable);
    second_start_ = std::exchange(start_, start);
  } else if (start > second_start_) {
    second_variable_ = variable;
    second_start_ = start;
  }
}

StepTime LatestStart::other_than(VariableNumber variable) const {
  return start_ != 0 && variable != variable_ ? start_ : second_start_;
}

void Spans::note(VariableNumber variable, StepTime begin, StepTime end) {
  // The newer span of a variable contains the older one: both begin with the first access of a. One that lies
  // further back is dropped later; looking for it costs more than it does.
  constexpr std::size_t kNear = 16;
  const auto near = spans_.end() - static_cast<std::ptrdiff_t>(std::min(kNear, spans_.size()));
  const auto same =
      std::find_if(near, spans_.end(), [&](const Span& span) { return span.variable == variable; });
  if (same != spans_.end()) spans_.erase(same);
  spans_.push_back({variable, begin, end});
  if (spans_.size() >= 2 * kMost) drop_contained();
}

bool Spans::contains(StepTime time, VariableNumber except) const {
  for (auto span = spans_.rbegin(); span != spans_.rend() && span->end > time; ++span)
    if (span->variable != except && span->begin < time) return true;
  return false;
}

void Spans::drop_contained() {
  StepTime smallest = kNever, second = kNever;
  VariableNumber of_smallest = 0;
  std::vector<Span> kept;
  for (auto span = spans_.rbegin(); span != spans_.rend() && kept.size() < kMost; ++span) {
    if (span->begin >= second || (span->begin == smallest && span->variable == of_smallest)) continue;
    if (span->begin < smallest) {
      of_smallest = span->variable;
      second = std::exchange(smallest, span->begin);
    } else {
      second = span->begin;
    }
    kept.push_back(*span);
  }
  std::reverse(kept.begin(), kept.end());
  spans_ = std::move(kept);
}

EdgeGroup& EdgeTable::group(ThreadIndex from, ThreadIndex to) {
  if (groups_.size() <= to) groups_.resize(to + 1);
  auto& row = groups_[to];
  if (row.size() <= from) row.resize(from + 1);
  if (!row[from]) {
    row[from] = std::make_unique<EdgeGroup>();
    row[from]->to = to;
    if (sources_.size() <= to) sources_.resize(to + 1);
    sources_[to].push_back(from);
  }
  return *row[from];
}

EdgeGroup* EdgeTable::find_group(ThreadIndex from, ThreadIndex to) {
  return to < groups_.size() && from < groups_[to].size() ? groups_[to][from].get() : nullptr;
}

std::pair<EdgeNumber, bool> EdgeTable::edge(EdgeGroup& group, std::uint32_t first_site,
                                            std::uint32_t second_site, EdgeModes modes) {
  const std::uint64_t sites = (std::uint64_t{first_site} << 33) | (std::uint64_t{second_site} << 2) |
                              static_cast<std::uint64_t>(modes);
  const auto [at, fresh] = group.by_sites.try_emplace(sites, static_cast<EdgeNumber>(edges_.size()));
  if (fresh) {
    Edge& edge = edges_.emplace_back();
    edge.first_site = first_site;
    edge.second_site = second_site;
    edge.modes = modes;
    const auto kind = kind_by_sites_.try_emplace(sites, static_cast<std::uint32_t>(kinds_.size()));
    if (kind.second) kinds_.emplace_back();
    edge.kind = kind.first->second;
    if (edges_to_.size() <= group.to) edges_to_.resize(group.to + 1);
    edge.number_in_group = static_cast<std::uint32_t>(group.edges.size());
    edge.number_to = edges_to_[group.to]++;
    group.edges.push_back(at->second);
    group.numbers_to.push_back(edge.number_to);
    group.ends.push_back(0);
  }
  return {at->second, fresh};
}

std::uint8_t& EdgeTable::found(const Edge& ending, const Edge& opposite) {
  std::vector<std::uint8_t>& shapes = kinds_[ending.kind].found;
  if (shapes.size() <= opposite.kind) shapes.resize(opposite.kind + 1);
  return shapes[opposite.kind];
}

const std::vector<ThreadIndex>& EdgeTable::sources_of(ThreadIndex to) {
  if (sources_.size() <= to) sources_.resize(to + 1);
  return sources_[to];
}

}  // namespace simrt::schedule
