#include "impact/shared_accesses.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "impact/publication.h"

namespace simrt::impact {
namespace {

class Collector {
 public:
  Collector(const ChangeContext& context, const Marks& marks, const AliasClasses& aliases,
            const BlockMapping& mapping)
      : context_(context),
        marks_(marks),
        aliases_(aliases),
        mapping_(mapping),
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
    for (auto& [key, representative] : at_new_sites_) result_.push_back(std::move(representative));
    sort_unique();
    return std::move(result_);
  }

 private:
  /// Initialisers of globals run before main, on one thread, unless one of them starts threads.
  bool start_up_spawns() const;
  bool may_run_with_others(std::uint32_t function) const;
  void add(std::uint32_t event, std::uint64_t alias_class);
  void sort_unique();
  Candidate describe(std::uint32_t event, std::uint64_t alias_class) const;

  const ChangeContext& context_;
  const Marks& marks_;
  const AliasClasses& aliases_;
  const BlockMapping& mapping_;
  const Publication publication_;
  bool initialisers_count_;
  std::vector<Candidate> result_;
  /// Accesses of existing functions that a changed call newly reaches; one for each site and kind of access
  /// is enough, because coverage of the site is all that can be asked for.
  std::map<std::tuple<MappedBlock, std::uint64_t, AccessMode, std::uint64_t>, Candidate> at_new_sites_;
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

void Collector::add(std::uint32_t event, std::uint64_t alias_class) {
  Candidate candidate = describe(event, alias_class);
  const auto place = [&](const MappedBlock& at) {
    candidate.access.mapped_function = at.function;
    candidate.access.block = at.block;
    candidate.access.reached_from = at.reached_from;
  };
  for (const MappedBlock& at : mapping_.of(event)) {
    place(at);
    result_.push_back(candidate);
  }
  if (!candidate.access.impacted) return;
  for (const MappedBlock& at : mapping_.newly_reached_from(context_.after.function_of_event(event))) {
    place(at);
    auto [known, fresh] =
        at_new_sites_.try_emplace({at, alias_class, candidate.access.mode, candidate.type}, candidate);
    if (!fresh && access_before(candidate.access, known->second.access)) known->second = candidate;
  }
}

void Collector::sort_unique() {
  std::stable_sort(result_.begin(), result_.end(),
                   [](const Candidate& a, const Candidate& b) { return access_before(a.access, b.access); });
  const auto same = [](const Candidate& a, const Candidate& b) {
    const SharedAccess &x = a.access, &y = b.access;
    return std::tie(x.block, x.reached_from, x.variable, x.alias_class, x.mode, x.file, x.at, x.impacted,
                    x.function) == std::tie(y.block, y.reached_from, y.variable, y.alias_class, y.mode,
                                            y.file, y.at, y.impacted, y.function);
  };
  result_.erase(std::unique(result_.begin(), result_.end(), same), result_.end());
}

}  // namespace

bool access_before(const SharedAccess& a, const SharedAccess& b) {
  return std::tie(a.file, a.at, a.mode, a.block, a.reached_from, a.variable, a.alias_class, a.function,
                  b.impacted) < std::tie(b.file, b.at, b.mode, b.block, b.reached_from, b.variable,
                                         b.alias_class, b.function, a.impacted);
}

std::vector<Candidate> shared_accesses(const ChangeContext& context, const Marks& marks,
                                       const AliasClasses& aliases, const BlockMapping& mapping) {
  return Collector(context, marks, aliases, mapping).run();
}

}  // namespace simrt::impact
