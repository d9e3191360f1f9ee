#include "diff/reach.h"

#include <algorithm>
#include <set>

#include "diff/branch_check.h"
#include "diff/dominance.h"
#include "diff/walk.h"

namespace simrt::diff {
namespace {

class Reach {
 public:
  Reach(const FlowGraph& before, const FlowGraph& after, const Matching& matching)
      : before_(before),
        after_(after),
        matching_(matching),
        branches_(before, after, matching),
        old_dominance_(before),
        new_dominance_(after),
        enters_home_(after.size()),
        enters_branch_(after.size()) {
    for (Position at = 0; at < after_.size(); ++at) {
      enters_home_[at] = home(at) != kNowhere;
      enters_branch_[at] = branches_.partner(at) != kNowhere;
    }
    // Greatest fixpoint: loops depend on themselves.
    for (bool changed = true; changed;) {
      changed = false;
      for (Position at : after_.order()) {
        if (enters_home_[at] && !implies(at, home(at))) enters_home_[at] = false, changed = true;
        if (enters_branch_[at] && !implies(at, branches_.partner(at)))
          enters_branch_[at] = false, changed = true;
      }
    }
  }

  Position old_block_of(Position new_block) const {
    if (enters_home_[new_block]) return home(new_block);
    if (home(new_block) == kNowhere)
      if (const Position target = agreed_old_target(new_block); target != kNowhere) return target;
    return safe_dominator(new_block);
  }

 private:
  Position home(Position new_block) const { return matching_.home(new_block); }
  bool implies(Position new_block, Position old_block) const;
  Dependence translated(Dependence dependence) const;
  Position agreed_old_target(Position new_block) const;
  Position old_target(Position from, const Arc& arc) const;
  Position safe_dominator(Position new_block) const;

  const FlowGraph& before_;
  const FlowGraph& after_;
  const Matching& matching_;
  Branches branches_;
  Dominance old_dominance_, new_dominance_;
  std::vector<bool> enters_home_;    ///< who enters this block entered its home on p
  std::vector<bool> enters_branch_;  ///< ... entered the old block that ends with the same branch
};

/// The same outcome in the old graph; branch kNowhere when the branch is new or decides otherwise.
Dependence Reach::translated(Dependence dependence) const {
  if (dependence.branch == new_dominance_.start()) {
    const auto& roots = before_.roots();
    const Position old_root = matching_.after[after_.roots()[dependence.arc]].partner;
    const auto found = std::find(roots.begin(), roots.end(), old_root);
    if (found == roots.end()) return {kNowhere, 0};
    return {old_dominance_.start(), static_cast<std::uint32_t>(found - roots.begin())};
  }
  const Arc* old_arc = branches_.old_arc(dependence.branch, after_.arcs(dependence.branch)[dependence.arc]);
  if (!old_arc) return {kNowhere, 0};
  const Position old_branch = branches_.partner(dependence.branch);
  return {old_branch, static_cast<std::uint32_t>(old_arc - before_.arcs(old_branch).data())};
}

/// Every outcome that leads to `new_block` led to `old_block`, as far as the branches still vouch for theirs.
bool Reach::implies(Position new_block, Position old_block) const {
  const auto& allowed = old_dominance_.dependences(old_block);
  std::vector<Position> work{new_block};
  std::set<Position> seen{new_block};
  while (!work.empty()) {
    const Position at = work.back();
    work.pop_back();
    for (const Dependence& dependence : new_dominance_.dependences(at)) {
      const Dependence old = translated(dependence);
      if (old.branch != kNowhere) {
        if (!std::binary_search(allowed.begin(), allowed.end(), old)) return false;
        if (dependence.branch != new_dominance_.start() && !enters_branch_[dependence.branch]) return false;
      } else if (dependence.branch == new_dominance_.start()) {
        return false;  // a new root, or one whose partner is no root
      } else if (seen.insert(dependence.branch).second) {
        work.push_back(dependence.branch);  // reached only if that branch is reached
      }
    }
  }
  return true;
}

/// Where the edge out of `from` led on p; kNowhere when nothing can be said.
Position Reach::old_target(Position from, const Arc& arc) const {
  if (enters_branch_[from]) {
    if (const Arc* old_arc = branches_.old_arc(from, arc)) return old_arc->target;
    if (branches_.same_decision(from) && !before_.find_arc(branches_.partner(from), arc)) {
      const Position instead = default_target(before_, branches_.partner(from), arc);
      if (instead != kNowhere) return instead;
    }
  }
  return enters_home_[from] ? home(from) : kNowhere;
}

Position Reach::agreed_old_target(Position new_block) const {
  Position agreed = kNowhere;
  std::vector<Position> work{new_block};
  std::set<Position> seen{new_block};
  while (!work.empty()) {
    const Position at = work.back();
    work.pop_back();
    if (after_.predecessors(at).empty()) return kNowhere;
    for (Position from : after_.predecessors(at)) {
      if (home(from) == kNowhere) {
        if (seen.insert(from).second) work.push_back(from);
        continue;
      }
      for (const Arc& arc : after_.arcs(from)) {
        if (arc.target != at) continue;
        const Position target = old_target(from, arc);
        if (target == kNowhere || (agreed != kNowhere && agreed != target)) return kNowhere;
        agreed = target;
      }
    }
  }
  return agreed;
}

Position Reach::safe_dominator(Position new_block) const {
  for (Position at = new_dominance_.dominator(new_block); at != new_dominance_.start() && at != kNowhere;
       at = new_dominance_.dominator(at))
    if (enters_home_[at]) return home(at);
  return before_.entry();
}

}  // namespace

std::vector<Position> old_blocks_reached(const FlowGraph& before, const FlowGraph& after,
                                         const Matching& matching) {
  const Reach reach(before, after, matching);
  std::vector<Position> result(after.size(), kNowhere);
  if (before.size() == 0) return result;
  for (Position at = 0; at < after.size(); ++at) result[at] = reach.old_block_of(at);
  return result;
}

}  // namespace simrt::diff
