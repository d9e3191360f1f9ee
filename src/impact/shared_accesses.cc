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
            const BlockMapping& mapping, SiteSets& sites)
      : context_(context),
        marks_(marks),
        aliases_(aliases),
        mapping_(mapping),
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
    for (auto& [key, representative] : newly_reached_) result_.push_back(std::move(representative));
    sort_unique();
    return std::move(result_);
  }

 private:
  /// Initialisers of globals run before main, on one thread, unless one of them starts threads.
  bool start_up_spawns() const;
  bool may_run_with_others(std::uint32_t function) const;
  void add(std::uint32_t event, std::uint64_t alias_class);
  std::vector<Standing> standings(const Places& places);
  void look_at_function(std::uint32_t function);
  void sort_unique();
  Candidate describe(std::uint32_t event, std::uint64_t alias_class) const;

  const ChangeContext& context_;
  const Marks& marks_;
  const AliasClasses& aliases_;
  const BlockMapping& mapping_;
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

Candidate Collector::describe(std::uint32_t event, std::uint64_t alias_class) const {
  const Event& facts = context_.after.event(event);
  const Access& access = std::get<Access>(facts.what);
  const FunctionFacts& function = context_.after.function(context_.after.function_of_event(event));
  Candidate candidate;
  SharedAccess& sv = candidate.access;
  sv.function = function.id;
  sv.variable = access.place.base;
  sv.alias_class = alias_class;
  sv.file = function.file;
  sv.at = facts.at;
  sv.mode = access.mode;
  sv.tags = access.tags;
  sv.order = access.order;
  for (const Held& held : context_.lock_names.set(context_.locks_after.at(event)))
    sv.locks.push_back(context_.lock_names.display(held.lock) + (held.assumed ? " (if the caller holds it)"
                                                                 : held.mode == LockMode::Shared ? " (shared)"
                                                                                                 : ""));
  std::sort(sv.locks.begin(), sv.locks.end());
  if (const std::uint32_t mark = marks_.of(event); mark != kNone) {
    const Cause& cause = marks_.cause(mark);
    sv.impacted = true;
    sv.rule = cause.rule;
    sv.cause = cause.text;
    sv.cause_file = cause.file;
    sv.cause_at = cause.at;
  }
  candidate.type = aliases_.type_of(access.place);
  candidate.before_publication = !sv.impacted && (access.tags & kTagOwnConstructor) &&
                                 function.has(kConstructor) &&
                                 !publication_.leaks_this(context_.after.function_of_event(event));
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
  look_at_function(context_.after.function_of_event(event));
  Candidate candidate = describe(event, alias_class);
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
  if (!candidate.access.impacted) return;
  for (const Standing& at : at_new_sites_) represent(at);
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
                                       SiteSets& sites) {
  return Collector(context, marks, aliases, mapping, sites).run();
}

}  // namespace simrt::impact
