#include "impact/pairs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace simrt::impact {
namespace {

using Members = std::vector<std::uint32_t>;

bool is_pair(const Candidate& a, const Candidate& b) {
  if (!a.access.impacted && !b.access.impacted) return false;
  if (a.before_publication || b.before_publication) return false;
  if (a.access.mode == AccessMode::Read && b.access.mode == AccessMode::Read) return false;
  return AliasClasses::may_alias(a.type, b.type);
}

class Pairing {
 public:
  Pairing(std::vector<Candidate> candidates, SiteSets sites, const ImpactOptions& options)
      : candidates_(std::move(candidates)),
        sites_(std::move(sites)),
        options_(options),
        kept_(candidates_.size(), options.keep_all_accesses) {}

  void add_class(const Members& members);
  void pair_all();
  void finish(Impact& impact);

 private:
  struct Class {
    Members members, impacted;
    std::size_t bound = 0;  ///< of its pairs
  };
  /// What an impacted access asks of its partners.
  struct Wanted {
    std::uint64_t type;
    bool writes_only;
    auto operator<=>(const Wanted&) const = default;
  };

  Class class_of(const Members& members) const;
  Members representatives(const Members& members);
  void pair_each(const Class& one);
  void pair_coarsely(const Class& one);
  Members stand_ins(const Members& members, const Wanted& wanted);
  std::uint32_t stand_in(const Members& members, SiteRole role);
  void add(std::uint32_t i, std::uint32_t j);

  std::vector<Candidate> candidates_;
  SiteSets sites_;
  const ImpactOptions& options_;
  std::vector<Class> classes_;
  std::vector<bool> kept_;
  Members merged_;  ///< parallel to merged_into_
  Members merged_into_;
  std::vector<AccessPair> pairs_;
};

Pairing::Class Pairing::class_of(const Members& members) const {
  Class one{members, {}, 0};
  for (std::uint32_t i : members)
    if (candidates_[i].access.impacted) one.impacted.push_back(i);
  one.bound = one.impacted.size() * one.members.size();
  return one;
}

/// One for all that coverage cannot tell apart.
Members Pairing::representatives(const Members& members) {
  std::map<std::tuple<BlockId, SiteRole, std::uint32_t, AccessMode, bool, bool, std::uint64_t>, std::uint32_t>
      seen;
  Members chosen;
  for (std::uint32_t i : members) {
    const Candidate& candidate = candidates_[i];
    const SharedAccess& access = candidate.access;
    const auto [known, fresh] =
        seen.try_emplace({access.block, access.site_role, access.sites, access.mode, access.impacted,
                          candidate.before_publication, candidate.type},
                         i);
    if (fresh) {
      chosen.push_back(i);
      continue;
    }
    merged_.push_back(i);
    merged_into_.push_back(known->second);
  }
  return chosen;
}

/// Merges a class that is too large and notes what it would cost to pair each with each.
void Pairing::add_class(const Members& members) {
  Class one = class_of(members);
  if (one.bound > options_.max_pairs_per_class) one = class_of(representatives(members));
  if (one.bound != 0) classes_.push_back(std::move(one));
}

/// The largest classes are paired coarsely until the others fit.
void Pairing::pair_all() {
  std::stable_sort(classes_.begin(), classes_.end(),
                   [](const Class& a, const Class& b) { return a.bound > b.bound; });
  std::size_t left = 0;
  for (const Class& one : classes_) left += one.bound;
  for (const Class& one : classes_) {
    if (left > options_.max_targets) {
      pair_coarsely(one);
      left -= one.bound;
    } else {
      pair_each(one);
    }
  }
}

void Pairing::add(std::uint32_t i, std::uint32_t j) {
  kept_[i] = kept_[j] = true;
  pairs_.push_back({std::min(i, j), std::max(i, j)});
}

void Pairing::pair_each(const Class& one) {
  for (std::uint32_t i : one.impacted) {
    kept_[i] = true;
    for (std::uint32_t j : one.members) {
      if (candidates_[j].access.impacted && j < i) continue;  // seen from the other side
      if (is_pair(candidates_[i], candidates_[j])) add(i, j);
    }
  }
}

/// A test covers a pair of `i` with one of many when it covers `i` with one thread and any of them with
/// another: with one access for the many, at the sites of them all, the same tests are selected.
void Pairing::pair_coarsely(const Class& one) {
  std::map<Wanted, Members> known;
  for (std::uint32_t i : one.impacted) {
    kept_[i] = true;
    if (candidates_[i].before_publication) continue;
    const Wanted wanted{candidates_[i].type, candidates_[i].access.mode == AccessMode::Read};
    const auto [partners, fresh] = known.try_emplace(wanted);
    if (fresh) partners->second = stand_ins(one.members, wanted);
    for (std::uint32_t j : partners->second) add(i, j);
  }
}

/// Apart: partners on recorded threads, on threads that only p' starts, and where it is not known what
/// coverage to ask for.
Members Pairing::stand_ins(const Members& members, const Wanted& wanted) {
  Members recorded, started, unknown;
  for (std::uint32_t i : members) {
    const Candidate& candidate = candidates_[i];
    if (candidate.before_publication || !AliasClasses::may_alias(wanted.type, candidate.type)) continue;
    if (wanted.writes_only && candidate.access.mode == AccessMode::Read) continue;
    kept_[i] = true;
    if (candidate.access.site_role == SiteRole::StartedBehind)
      started.push_back(i);
    else if (candidate.access.site_role == SiteRole::RunsFrom || !(candidate.access.block == BlockId{}))
      recorded.push_back(i);
    else
      unknown.push_back(i);
  }
  Members result;
  if (!recorded.empty()) result.push_back(stand_in(recorded, SiteRole::RunsFrom));
  if (!started.empty()) result.push_back(stand_in(started, SiteRole::StartedBehind));
  if (!unknown.empty()) result.push_back(stand_in(unknown, SiteRole::None));
  return result;
}

/// One access for all of them; a write where there is one.
std::uint32_t Pairing::stand_in(const Members& members, SiteRole role) {
  if (members.size() == 1) return members.front();
  const auto write = std::find_if(members.begin(), members.end(), [&](std::uint32_t i) {
    return candidates_[i].access.mode == AccessMode::Write;
  });
  Candidate all = candidates_[write == members.end() ? members.front() : *write];
  all.access.stands_for = static_cast<std::uint32_t>(members.size());
  all.access.impacted = false;
  all.access.block = {};
  all.access.site_role = role;
  if (role != SiteRole::None) {
    std::vector<BlockId> blocks;
    for (std::uint32_t i : members) {
      const SharedAccess& access = candidates_[i].access;
      if (access.site_role == SiteRole::None)
        blocks.push_back(access.block);
      else
        blocks.insert(blocks.end(), sites_.at(access.sites).begin(), sites_.at(access.sites).end());
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    all.access.sites = sites_.add(std::move(blocks));
  }
  candidates_.push_back(std::move(all));
  kept_.push_back(true);
  return static_cast<std::uint32_t>(candidates_.size() - 1);
}

void Pairing::finish(Impact& impact) {
  for (std::size_t i = 0; i < merged_.size(); ++i)
    if (kept_[merged_into_[i]]) kept_[merged_[i]] = true;
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
  impact.site_sets = sites_.all();
}

}  // namespace

void pair_accesses(std::vector<Candidate> candidates, SiteSets sites, const ImpactOptions& options,
                   Impact& impact) {
  std::map<std::uint64_t, Members> classes;
  for (std::uint32_t i = 0; i < candidates.size(); ++i)
    classes[candidates[i].access.alias_class].push_back(i);
  Pairing pairing(std::move(candidates), std::move(sites), options);
  for (const auto& [alias_class, members] : classes) pairing.add_class(members);
  pairing.pair_all();
  pairing.finish(impact);
}

}  // namespace simrt::impact
