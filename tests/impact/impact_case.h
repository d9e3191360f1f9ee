// One change written as two program texts, analysed; and its result in a form that tests can compare.
#pragma once

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "impact/impact.h"
#include "program_text.h"

namespace simrt::impact {

inline std::set<BlockId> blocks_of(const Impact& impact, const SharedAccess& access) {
  if (access.site_role == SiteRole::None) return {access.block};
  const std::vector<BlockId>& sites = impact.site_sets[access.sites];
  return {sites.begin(), sites.end()};
}

/// What the selection depends on: whose blocks have to be covered by two threads. A block is unknown when it
/// is {0, 0}, and stands for a new thread started behind it when the flag is set.
using Target = std::pair<BlockId, bool>;
inline std::set<std::pair<Target, Target>> targets_of(const Impact& impact) {
  std::set<std::pair<Target, Target>> result;
  const auto targets = [&](std::uint32_t index) {
    const SharedAccess& access = impact.accesses[index];
    std::set<Target> found;
    for (const BlockId& block : blocks_of(impact, access))
      found.emplace(block, access.site_role == SiteRole::StartedBehind);
    return found;
  };
  for (const AccessPair& pair : impact.pairs)
    for (const Target& a : targets(pair.first))
      for (const Target& b : targets(pair.second)) result.insert({std::min(a, b), std::max(a, b)});
  return result;
}

struct ImpactCase {
  Program before, after;
  Impact impact;

  ImpactCase(const std::string& old_text, const std::string& new_text, const ImpactOptions& options = {})
      : before(parse_program(old_text)), after(parse_program(new_text)) {
    impact = analyse_impact(before, after, diff_texts(before, after), options);
  }

  /// "Counter::Add W Counter::value_" for every impacted access, sorted, unique.
  std::vector<std::string> impacted() const {
    std::set<std::string> lines;
    for (const SharedAccess& access : impact.accesses)
      if (access.impacted) lines.insert(line(access));
    return {lines.begin(), lines.end()};
  }

  /// "A W x ~ B R x" for every pair, in order of the accesses.
  std::vector<std::string> pairs() const {
    std::set<std::string> lines;
    for (const AccessPair& pair : impact.pairs) {
      std::vector<std::string> sides{line(impact.accesses[pair.first]), line(impact.accesses[pair.second])};
      std::sort(sides.begin(), sides.end());
      lines.insert(sides[0] + " ~ " + sides[1]);
    }
    return {lines.begin(), lines.end()};
  }

  const SharedAccess* find(const std::string& wanted) const {
    for (const SharedAccess& access : impact.accesses)
      if (line(access) == wanted) return &access;
    return nullptr;
  }

  ImpactRule rule(const std::string& wanted) const {
    const SharedAccess* access = find(wanted);
    return access ? access->rule : ImpactRule::NotImpacted;
  }

  std::string cause(const std::string& wanted) const {
    const SharedAccess* access = find(wanted);
    return access ? access->cause : "(no such access)";
  }

  /// All blocks that stand for the access: its own, or its sites.
  std::set<BlockId> blocks(const SharedAccess& access) const { return blocks_of(impact, access); }

  std::string line(const SharedAccess& access) const {
    return after.name_of(access.function) + (access.mode == AccessMode::Read ? " R " : " W ") +
           after.name_of(access.variable);
  }
};

/// `text` with the first occurrence of each old line replaced; throws when one is missing, so that no test is
/// vacuous.
inline std::string edit(std::string text,
                        const std::vector<std::pair<std::string, std::string>>& replacements) {
  for (const auto& [from, to] : replacements) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::invalid_argument("nothing to replace: " + from);
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace simrt::impact
