#include "impact/pairs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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

class Pairing {
 public:
  Pairing(std::vector<Candidate> candidates, std::size_t max_pairs, std::size_t max_targets, bool keep_all)
      : candidates_(std::move(candidates)),
        max_pairs_(max_pairs),
        max_targets_(max_targets),
        kept_(candidates_.size(), keep_all) {}

  void add_class(Members members);
  void pair_all();
  void finish(Impact& impact);

 private:
  struct Class {
    Members members, impacted;
    std::size_t bound;  ///< of its pairs
  };

  void pair_each(const Members& impacted, const Members& members);
  void pair_coarsely(const Members& impacted, const Members& members);
  std::optional<std::uint32_t> stand_in(const Members& members, AccessMode mode);
  void add(std::uint32_t i, std::uint32_t j);

  std::vector<Candidate> candidates_;
  std::size_t max_pairs_, max_targets_;
  std::vector<Class> classes_;
  std::vector<bool> kept_;
  std::vector<AccessPair> pairs_;
};

/// Merges a class that is too large and notes what it would cost to pair each with each.
void Pairing::add_class(Members members) {
  if (pair_bound(candidates_, members) > max_pairs_) members = representatives(candidates_, members);
  Members impacted;
  for (std::uint32_t i : members)
    if (candidates_[i].access.impacted) impacted.push_back(i);
  const std::size_t bound = impacted.size() * members.size();
  if (bound != 0) classes_.push_back({std::move(members), std::move(impacted), bound});
}

/// The largest classes are paired coarsely until the others fit.
void Pairing::pair_all() {
  std::stable_sort(classes_.begin(), classes_.end(),
                   [](const Class& a, const Class& b) { return a.bound > b.bound; });
  std::size_t total = 0;
  for (const Class& one : classes_) total += one.bound;
  for (const Class& one : classes_) {
    if (total > max_targets_)
      pair_coarsely(one.impacted, one.members);
    else
      pair_each(one.impacted, one.members);
    total -= total > max_targets_ ? one.bound : 0;
  }
}

void Pairing::add(std::uint32_t i, std::uint32_t j) {
  kept_[i] = kept_[j] = true;
  pairs_.push_back({std::min(i, j), std::max(i, j)});
}

void Pairing::pair_each(const Members& impacted, const Members& members) {
  for (std::uint32_t i : impacted) {
    kept_[i] = true;
    for (std::uint32_t j : members) {
      if (candidates_[j].access.impacted && j < i) continue;  // seen from the other side
      if (is_pair(candidates_[i], candidates_[j])) add(i, j);
    }
  }
}

/// One access for all those of `mode` whose block is known; nothing when there is none.
std::optional<std::uint32_t> Pairing::stand_in(const Members& members, AccessMode mode) {
  std::optional<std::uint32_t> first;
  std::uint32_t count = 0;
  for (std::uint32_t i : members) {
    const SharedAccess& access = candidates_[i].access;
    if (access.mode != mode || access.block == BlockId{} || candidates_[i].before_publication) continue;
    if (!first) first = i;
    ++count;
  }
  if (!first) return std::nullopt;
  Candidate all = candidates_[*first];
  all.type = 0;  // the others may have other types
  all.access.stands_for = count;
  all.access.impacted = false;
  candidates_.push_back(std::move(all));
  kept_.push_back(false);
  return static_cast<std::uint32_t>(candidates_.size() - 1);
}

void Pairing::pair_coarsely(const Members& impacted, const Members& members) {
  const auto write = stand_in(members, AccessMode::Write), read = stand_in(members, AccessMode::Read);
  Members partners;  // where it is not known what coverage to ask for, each stands for itself
  for (std::uint32_t i : members)
    if (candidates_[i].access.block == BlockId{}) partners.push_back(i);
  for (std::uint32_t i : impacted) {
    if (candidates_[i].before_publication) continue;
    if (write)
      add(i, *write);
    else if (read && candidates_[i].access.mode == AccessMode::Write)
      add(i, *read);
  }
  pair_each(impacted, partners);
}

void Pairing::finish(Impact& impact) {
  std::vector<std::uint32_t> position(candidates_.size(), 0);
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
    if (!kept_[i]) continue;
    position[i] = static_cast<std::uint32_t>(impact.accesses.size());
    impact.accesses.push_back(std::move(candidates_[i].access));
  }
  for (AccessPair& pair : pairs_) pair = {position[pair.first], position[pair.second]};
  std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  impact.pairs = std::move(pairs_);
}

}  // namespace

void pair_accesses(std::vector<Candidate> candidates, std::size_t max_pairs, bool keep_all, Impact& impact,
                   std::size_t max_targets) {
  std::map<std::uint64_t, Members> classes;
  for (std::uint32_t i = 0; i < candidates.size(); ++i)
    classes[candidates[i].access.alias_class].push_back(i);
  Pairing pairing(std::move(candidates), max_pairs, max_targets, keep_all);
  for (auto& [alias_class, members] : classes) pairing.add_class(std::move(members));
  pairing.pair_all();
  pairing.finish(impact);
}

}  // namespace simrt::impact
