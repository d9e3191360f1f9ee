// Runs the parts in order. The rules go by how much their reasons tell: what lost its safety, what is new,
// what is called, what lost its protection, what depends on the change.
#include <algorithm>
#include <tuple>
#include <utility>

#include "impact/alias_classes.h"
#include "impact/block_mapping.h"
#include "impact/change_context.h"
#include "impact/impact.h"
#include "impact/lock_order.h"
#include "impact/marks.h"
#include "impact/origins.h"
#include "impact/pairs.h"
#include "impact/rules.h"
#include "impact/shared_accesses.h"
#include "impact/unknowns.h"

namespace simrt::impact {

Impact analyse_impact(const Program& before, const Program& after, const ProgramDiff& diff,
                      const ImpactOptions& options) {
  Impact impact;
  impact.unknowns = unknown_units(before, after);
  if (diff.functions.empty() && diff.variables.empty() && !options.keep_all_accesses) return impact;

  const ChangeContext context(before, after, diff, options);
  Marks marks(context.after, context.calls_after);
  std::vector<Unknown> unknown = unknown_code(context, marks);
  rule_safety(context, marks);
  rule_access(context, marks);
  std::vector<std::uint32_t> changed_calls = rule_call(context, marks);
  rule_sync(context, marks);
  rule_order(context, marks);
  rule_moved(context, marks);
  BranchSites branches(context), statics(context);
  statics.add_static_initialisers();
  const std::vector<std::uint32_t> decided_calls = rule_slice(context, marks, branches);
  changed_calls.insert(changed_calls.end(), decided_calls.begin(), decided_calls.end());
  std::sort(changed_calls.begin(), changed_calls.end());
  changed_calls.erase(std::unique(changed_calls.begin(), changed_calls.end()), changed_calls.end());

  impact.unknowns.insert(impact.unknowns.end(), unknown.begin(), unknown.end());
  std::sort(impact.unknowns.begin(), impact.unknowns.end(), [](const Unknown& a, const Unknown& b) {
    return std::tie(a.file, a.function, a.what) < std::tie(b.file, b.function, b.what);
  });
  const std::vector<LockOrderSite> lock_order = lock_order_sites(context, marks);
  if (!marks.any() && lock_order.empty() && !options.keep_all_accesses) return impact;

  if (!options.keep_all_accesses) impact.origins = change_origins(context);
  const AliasClasses aliases(context.after, context.calls_after);
  const BlockMapping mapping(context, changed_calls, branches, statics);
  SiteSets sites;
  std::vector<Candidate> candidates = shared_accesses(context, marks, aliases, mapping, lock_order, sites);
  pair_accesses(std::move(candidates), std::move(sites), options, impact);
  return impact;
}

}  // namespace simrt::impact
