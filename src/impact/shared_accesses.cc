#include "impact/shared_accesses.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "impact/publication.h"

namespace simrt::impact {
namespace {

/// Where an access stands in p.
struct Standing {
  FunctionId function;  ///< c.m
  BlockId block;
  SiteRole role = SiteRole::None;
  std::uint32_t sites = 0;
  auto operator<=>(const Standing&) const = default;
};

class Collector {
 public:
  Collector(const ChangeContext& context, const Marks& marks, const AliasClasses& aliases,
            const BlockMapping& mapping, const std::vector<LockOrderSite>& lock_order, SiteSets& sites)
      : context_(context),
        marks_(marks),
        aliases_(aliases),
        mapping_(mapping),
        lock_order_(lock_order),
        sites_(sites),
        publication_(context.after, context.calls_after),
        initialisers_count_(start_up_spawns()) {}

  std::vector<Candidate> run() {
    std::vector<std::uint32_t> events;
    std::vector<std::uint64_t> classes;
    std::unordered_set<std::uint64_t> impacted_classes;
    for (std::uint32_t f = 0; f < context_.after.function_count(); ++f) {
      if (!may_run_with_others(f)) continue;
      const Range range = context_.after.events_of(f);
      for (std::uint32_t event = range.begin; event < range.end; ++event) {
        if (!context_.shared_after.contains(event)) continue;
        events.push_back(event);
        classes.push_back(aliases_.class_of(std::get<Access>(context_.after.event(event).what).place));
        if (marks_.of(event) != kNone) impacted_classes.insert(classes.back());
      }
    }
    for (std::size_t i = 0; i < events.size(); ++i)
      if (context_.options.keep_all_accesses || impacted_classes.contains(classes[i]))
        add(events[i], classes[i]);
    for (const LockOrderSite& site : lock_order_)
      if (may_run_with_others(context_.after.function_of_event(site.event))) add(site);
    for (auto& [key, representative] : newly_reached_) result_.push_back(std::move(representative));
    sort_unique();
    return std::move(result_);
  }

 private:
  /// Initialisers of globals run before main, on one thread, unless one of them starts threads.
  bool start_up_spawns() const;
  bool may_run_with_others(std::uint32_t function) const;
  void add(std::uint32_t event, std::uint64_t alias_class);
  void add(const LockOrderSite& site);
  void add(std::uint32_t event, Candidate candidate);
  std::vector<Standing> standings(const Places& places);
  void look_at_function(std::uint32_t function);
  void sort_unique();
  SharedAccess at_event(std::uint32_t event, std::uint32_t mark) const;
  Candidate describe(std::uint32_t event, std::uint64_t alias_class) const;

  const ChangeContext& context_;
  const Marks& marks_;
  const AliasClasses& aliases_;
  const BlockMapping& mapping_;
  const std::vector<LockOrderSite>& lock_order_;
  SiteSets& sites_;
  const Publication publication_;
  bool initialisers_count_;
  std::vector<Candidate> result_;
  std::uint32_t function_ = kNone;  ///< that the next two are of
  std::vector<Standing> at_callers_, at_new_sites_, at_once_;
  /// Accesses of existing functions that a changed call newly reaches, or that a once-flag lets any thread
  /// run; one for each set of sites and kind of access is enough, because coverage of the sites is all that
  /// can be asked for.
  std::map<std::tuple<Standing, std::uint64_t, AccessMode, std::uint64_t, bool>, Candidate> newly_reached_;
};

bool Collector::start_up_spawns() const {
  std::vector<std::uint32_t> initialisers;
  for (std::uint32_t f = 0; f < context_.after.function_count(); ++f)
    if (context_.after.function(f).has(kStaticInit)) initialisers.push_back(f);
  if (initialisers.empty()) return false;
  for (std::uint32_t f : context_.calls_after.closure(initialisers))
    for (const CallEdge& edge : context_.calls_after.out(f))
      if (edge.kind == CallKind::Spawn) return true;
  return false;
}

bool Collector::may_run_with_others(std::uint32_t function) const {
  if (context_.matching.status(function) == FunctionStatus::Added && !context_.is_live_added(function))
    return false;
  return initialisers_count_ || !context_.after.function(function).has(kStaticInit);
}

SharedAccess Collector::at_event(std::uint32_t event, std::uint32_t mark) const {
  const FunctionFacts& function = context_.after.function(context_.after.function_of_event(event));
  SharedAccess sv;
  sv.function = function.id;
  sv.file = function.file;
  sv.at = context_.after.event(event).at;
  for (const Held& held : context_.lock_names.set(context_.locks_after.at(event)))
    sv.locks.push_back(context_.lock_names.display(held.lock) + (held.assumed ? " (if the caller holds it)"
                                                                 : held.mode == LockMode::Shared ? " (shared)"
                                                                                                 : ""));
  std::sort(sv.locks.begin(), sv.locks.end());
  if (mark != kNone) {
    const Cause& cause = marks_.cause(mark);
    sv.impacted = true;
    sv.rule = cause.rule;
    sv.cause = cause.text;
    sv.cause_file = cause.file;
    sv.cause_at = cause.at;
  }
  return sv;
}

Candidate Collector::describe(std::uint32_t event, std::uint64_t alias_class) const {
  const Access& access = std::get<Access>(context_.after.event(event).what);
  const std::uint32_t function = context_.after.function_of_event(event);
  Candidate candidate;
  candidate.access = at_event(event, marks_.of(event));
  SharedAccess& sv = candidate.access;
  sv.variable = access.place.base;
  sv.alias_class = alias_class;
  sv.mode = access.mode;
  sv.tags = access.tags;
  sv.order = access.order;
  candidate.type = aliases_.type_of(access.place);
  candidate.before_publication = !sv.impacted && (access.tags & kTagOwnConstructor) &&
                                 context_.after.function(function).has(kConstructor) &&
                                 !publication_.leaks_this(function);
  return candidate;
}

std::vector<Standing> Collector::standings(const Places& places) {
  std::vector<Standing> result;
  if (places.here.size() == 1)
    result.push_back({places.here[0].function, places.here[0]});
  else if (!places.here.empty())
    result.push_back({places.here[0].function, {}, SiteRole::RunsFrom, sites_.add(places.here)});
  if (!places.started.empty())
    result.push_back({places.started[0].function, {}, SiteRole::StartedBehind, sites_.add(places.started)});
  if (places.unknown) result.emplace_back();
  return result;
}

void Collector::look_at_function(std::uint32_t function) {
  if (function_ == function) return;
  function_ = function;
  const bool is_new = context_.matching.status(function) == FunctionStatus::Added;
  at_callers_ = is_new ? standings(mapping_.callers_of_new(function)) : std::vector<Standing>{};
  at_new_sites_ = is_new ? std::vector<Standing>{} : standings(mapping_.newly_reached_from(function));
  at_once_ = is_new ? std::vector<Standing>{} : standings(mapping_.once_from(function));
}

void Collector::add(std::uint32_t event, std::uint64_t alias_class) {
  add(event, describe(event, alias_class));
}

/// Taking a lock counts as a write of it: two threads that do so in a circle can get stuck.
void Collector::add(const LockOrderSite& site) {
  Candidate candidate;
  candidate.access = at_event(site.event, site.cause);
  candidate.access.variable = site.lock;
  candidate.access.alias_class = site.circle;
  candidate.access.mode = AccessMode::Write;
  add(site.event, std::move(candidate));
}

void Collector::add(std::uint32_t event, Candidate candidate) {
  look_at_function(context_.after.function_of_event(event));
  const std::uint64_t alias_class = candidate.access.alias_class;
  const auto place = [&](const Standing& at) {
    candidate.access.mapped_function = at.function;
    candidate.access.block = at.block;
    candidate.access.site_role = at.role;
    candidate.access.sites = at.sites;
  };
  if (const auto block = mapping_.own_block(event)) {
    place({block->function, *block});
    result_.push_back(candidate);
  }
  for (const Standing& at : at_callers_) {
    place(at);
    result_.push_back(candidate);
  }
  const auto represent = [&](const Standing& at) {
    place(at);
    auto [known, fresh] = newly_reached_.try_emplace(
        {at, alias_class, candidate.access.mode, candidate.type, candidate.access.impacted}, candidate);
    if (!fresh && access_before(candidate.access, known->second.access)) known->second = candidate;
  };
  for (const Standing& at : at_once_) represent(at);
  for (const Standing& at : standings(mapping_.once_at(event))) represent(at);
  if (!candidate.access.impacted) return;
  for (const Standing& at : at_new_sites_) represent(at);
  for (const Standing& at : standings(mapping_.newly_reached_at(event))) represent(at);
}

void Collector::sort_unique() {
  std::stable_sort(result_.begin(), result_.end(),
                   [](const Candidate& a, const Candidate& b) { return access_before(a.access, b.access); });
  const auto same = [](const Candidate& a, const Candidate& b) {
    const SharedAccess &x = a.access, &y = b.access;
    return std::tie(x.block, x.site_role, x.sites, x.variable, x.alias_class, x.mode, x.file, x.at,
                    x.impacted, x.function) == std::tie(y.block, y.site_role, y.sites, y.variable,
                                                        y.alias_class, y.mode, y.file, y.at, y.impacted,
                                                        y.function);
  };
  result_.erase(std::unique(result_.begin(), result_.end(), same), result_.end());
}

}  // namespace

bool access_before(const SharedAccess& a, const SharedAccess& b) {
  return std::tie(a.file, a.at, a.mode, a.block, a.site_role, a.sites, a.variable, a.alias_class, a.function,
                  b.impacted) < std::tie(b.file, b.at, b.mode, b.block, b.site_role, b.sites, b.variable,
                                         b.alias_class, b.function, a.impacted);
}

std::vector<Candidate> shared_accesses(const ChangeContext& context, const Marks& marks,
                                       const AliasClasses& aliases, const BlockMapping& mapping,
                                       const std::vector<LockOrderSite>& lock_order, SiteSets& sites) {
  return Collector(context, marks, aliases, mapping, lock_order, sites).run();
}

}  // namespace simrt::impact
