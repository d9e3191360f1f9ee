#include "impact/pairs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace simrt::impact {
namespace {

using Members = std::vector<std::uint32_t>;

bool is_pair(const Candidate& a, const Candidate& b) {
  if (!a.access.impacted && !b.access.impacted) return false;
  if (a.before_publication || b.before_publication) return false;
  if (a.access.mode == AccessMode::Read && b.access.mode == AccessMode::Read) return false;
  return AliasClasses::may_alias(a.type, b.type);
}

/// Upper bound of the pairs in a class.
std::size_t pair_bound(const std::vector<Candidate>& candidates, const Members& members) {
  const auto impacted = static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(), [&](std::uint32_t i) { return candidates[i].access.impacted; }));
  return impacted * members.size();
}

Members representatives(const std::vector<Candidate>& candidates, const Members& members) {
  std::set<std::tuple<BlockId, BlockId, AccessMode, bool, std::uint64_t>> seen;
  Members kept;
  for (std::uint32_t i : members) {
    const SharedAccess& access = candidates[i].access;
    if (seen.emplace(access.block, access.reached_from, access.mode, access.impacted, candidates[i].type)
            .second)
      kept.push_back(i);
  }
  return kept;
}

}  // namespace

void pair_accesses(std::vector<Candidate> candidates, std::size_t max_pairs, bool keep_all, Impact& impact) {
  std::map<std::uint64_t, Members> classes;
  for (std::uint32_t i = 0; i < candidates.size(); ++i)
    classes[candidates[i].access.alias_class].push_back(i);

  std::vector<AccessPair> pairs;
  std::vector<bool> kept(candidates.size(), keep_all);
  for (auto& [alias_class, members] : classes) {
    if (pair_bound(candidates, members) > max_pairs) members = representatives(candidates, members);
    Members impacted;
    for (std::uint32_t i : members)
      if (candidates[i].access.impacted) impacted.push_back(i);
    for (std::uint32_t i : impacted) {
      kept[i] = true;
      for (std::uint32_t j : members) {
        if (candidates[j].access.impacted && j < i) continue;  // seen from the other side
        if (!is_pair(candidates[i], candidates[j])) continue;
        kept[j] = true;
        pairs.push_back({std::min(i, j), std::max(i, j)});
      }
    }
  }

  std::vector<std::uint32_t> position(candidates.size(), 0);
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (!kept[i]) continue;
    position[i] = static_cast<std::uint32_t>(impact.accesses.size());
    impact.accesses.push_back(std::move(candidates[i].access));
  }
  for (AccessPair& pair : pairs) pair = {position[pair.first], position[pair.second]};
  std::sort(pairs.begin(), pairs.end());
  impact.pairs = std::move(pairs);
}

}  // namespace simrt::impact
