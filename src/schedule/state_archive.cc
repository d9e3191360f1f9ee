#include "schedule/state_archive.h"

#include <algorithm>
#include <optional>

#include "support/hash.h"

namespace simrt::schedule {
namespace {

constexpr std::size_t kMostStates = 1'000'000;
constexpr std::size_t kMostKept = 32'000'000;  // choices of all ways; 128 MB
constexpr unsigned kCompared = 8;              // entries that a draw chooses among

}  // namespace

std::size_t StateArchive::add(const Choices& choices, std::span<const State> states, std::size_t known) {
  std::size_t fresh = 0;
  std::optional<std::uint32_t> way;  // this one, once it is kept
  const std::size_t length = states.empty() ? 0 : std::min(choices.size(), states.back().choices);
  for (const State& state : states) {
    if (state.choices <= known || state.choices > choices.size()) continue;
    const bool room = entries_.size() < kMostStates && (way || kept_ + length <= kMostKept);
    auto at = by_hash_.find(state.hash);
    if (at == by_hash_.end()) {
      if (!room) continue;
      at = by_hash_.emplace(state.hash, static_cast<std::uint32_t>(entries_.size())).first;
      entries_.emplace_back();
      ++fresh;
    }
    Entry& entry = entries_[at->second];
    ++entry.reached;
    if (entry.reached > 1 && (state.choices >= entry.choices || !room)) continue;
    if (!way) way = keep(choices, length);
    if (entry.reached > 1) let_go(entry.way);
    entry.way = *way;
    entry.choices = static_cast<std::uint32_t>(state.choices);
    ++ways_[*way].entries;
  }
  return fresh;
}

std::uint32_t StateArchive::keep(const Choices& choices, std::size_t length) {
  if (free_ways_.empty()) {
    free_ways_.push_back(static_cast<std::uint32_t>(ways_.size()));
    ways_.emplace_back();
  }
  const std::uint32_t way = free_ways_.back();
  free_ways_.pop_back();
  ways_[way].choices.assign(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(length));
  ways_[way].entries = 0;
  kept_ += length;
  return way;
}

void StateArchive::let_go(std::uint32_t way) {
  if (--ways_[way].entries > 0) return;
  kept_ -= ways_[way].choices.size();
  Choices().swap(ways_[way].choices);
  free_ways_.push_back(way);
}

Choices StateArchive::draw(std::uint64_t random) {
  if (entries_.empty()) return {};
  const auto worth = [](const Entry& entry) {  // smaller is better; near ones, for more is left to happen
    const double drawn = 1.0 + entry.drawn;
    return (1.0 + entry.reached) * drawn * drawn * entry.choices;
  };
  Entry* best = nullptr;
  for (unsigned i = 0; i < kCompared; ++i) {
    random = hash_combine(random, i);
    Entry& entry = entries_[random % entries_.size()];
    if (best == nullptr || worth(entry) < worth(*best)) best = &entry;
  }
  ++best->drawn;
  ++returns_;
  const Choices& way = ways_[best->way].choices;
  return {way.begin(), way.begin() + static_cast<std::ptrdiff_t>(best->choices)};
}

}  // namespace simrt::schedule
