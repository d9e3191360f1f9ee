#include "pipeline/explore/remembered.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/steer/strategy_identity.h"

namespace simrt::pipeline {
namespace {

// Most instances of a test that are kept: the predicted ones are there for `simrt history patterns`.
constexpr std::size_t kMostCovered = 200'000, kMostPredicted = 20'000;

class Keeping {
 public:
  explicit Keeping(const TestExploreResult& result) : result_(result) {}

  history::Interleavings known() {
    add_instances();
    add_orders();
    for (const auto& [pair, executions] : result_.knowledge->method_pairs().pairs())
      known_.method_pairs.push_back({method_name(pair.first), method_name(pair.second), executions});
    for (const SiteId site : used_) {
      const SitePlace& place = result_.sites->places().at(site);
      known_.sites.push_back({site, place.function, place.file, place.line, place.column});
    }
    return std::move(known_);
  }

 private:
  bool use(SiteId site) {
    if (!result_.sites->places().contains(site)) return false;
    used_.insert(site);
    return true;
  }

  /// An instance lives as long as its sites do: those that this exploration did not meet are gone, or not
  /// reached any more.
  void add(const schedule::PatternInstance& instance, bool covered) {
    for (const SiteId site : instance.used())
      if (!use(site)) return;
    known_.instances.push_back({instance.pattern, instance.sites, covered});
  }

  void add_instances() {
    for (const auto& instance : result_.knowledge->covered().sorted()) {
      if (known_.instances.size() == kMostCovered) break;
      add(instance, true);
    }
    std::size_t predicted = 0;
    for (const auto& target : result_.knowledge->predictor().targets(result_.knowledge->covered(),
                                                                     result_.knowledge->impacted())) {
      if (++predicted > kMostPredicted) break;
      add(target.instance, false);
    }
  }

  void add_orders() {
    for (const auto& [after, befores] : result_.knowledge->orders().sets())
      for (const schedule::Statement& before : befores)
        if (use(after.site) && use(before.site))
          known_.orders.push_back({after.site, after.context, before.site, before.context});
  }

  std::string method_name(FunctionId method) {
    if (methods_.empty())
      for (const auto& [site, place] : result_.sites->places())
        methods_.try_emplace(place.method, place.function);
    const auto found = methods_.find(method);
    return found == methods_.end() ? "?" : found->second;
  }

  const TestExploreResult& result_;
  history::Interleavings known_;
  std::set<SiteId> used_;
  std::map<FunctionId, std::string> methods_;
};

}  // namespace

Result<Remembered> remember(history::Database& database, const std::string& test, const std::string& strategy,
                            std::uint64_t executable, const std::string& base) {
  Remembered remembered;
  auto last = history::last_exploration(database, test);
  if (!last) return fail(last.error());
  if (!*last) return remembered;
  const bool same = executable != 0 && (*last)->executable == executable;
  const bool from_base = !base.empty() && (*last)->head == base;
  if (!same && !from_base) {
    remembered.note =
        "the program was built anew since it was explored: what is known of it counts only for a "
        "--base at which it was explored";
    return remembered;
  }
  const auto known = history::interleavings_of(database, test);
  if (!known) return fail(known.error());
  std::unordered_set<schedule::PatternInstance> instances;
  for (const history::StoredInstance& each : known->instances)
    if (each.covered) instances.insert({each.pattern, each.sites});
  remembered.covered.add(instances);
  for (const history::StoredOrder& each : known->orders)
    remembered.orders.insert({each.after, each.after_context, schedule::StatementThread::Local},
                             {each.before, each.before_context, schedule::StatementThread::Remote});
  if (!same || !(*last)->settled || (*last)->strategy != strategy) return remembered;
  if ((*last)->settled_by != strategy_identity()) {
    remembered.note =
        "an earlier version of the strategies left nothing to do of the same program; this one looks again";
    return remembered;
  }
  remembered.settled = true;
  remembered.note = fmt::format(
      "nothing left to do since an earlier exploration of the same program ({}); "
      "--again explores all the same",
      (*last)->ended);
  return remembered;
}

report::ExploredTest explored_line(const std::string& test, const TestExploreResult& result) {
  const Knowledge& knowledge = *result.knowledge;
  report::ExploredTest line;
  line.name = test;
  line.end = to_string(result.end);
  line.executions = result.executions;
  line.extra = result.extra;
  line.failed = result.failed;
  line.first_failure = result.first_failure;
  line.first_ending = result.first_ending;
  line.failure_kinds = result.failure_kinds;
  line.growth = result.growth;
  line.seconds = result.seconds;
  line.seconds_to_failure = result.seconds_to_failure;
  line.points = result.points;
  line.threads = result.threads;
  line.patterns.covered = knowledge.covered().size();
  line.patterns.total = knowledge.accesses().total();
  line.patterns.feasible = knowledge.feasible();
  line.patterns.remembered = knowledge.remembered();
  line.patterns.feasible_cut = knowledge.predictor().cut();
  if (!knowledge.impacted().empty()) {
    line.patterns.impacted = knowledge.covered().impacted(knowledge.impacted()).size();
    line.patterns.impacted_feasible =
        line.patterns.impacted + static_cast<std::uint64_t>(std::ranges::count_if(
                                     knowledge.predictor().targets(knowledge.covered(), knowledge.impacted()),
                                     [](const schedule::Target& target) { return target.impacted; }));
  }
  line.method_pairs = knowledge.method_pairs().pairs().size();
  line.orders = knowledge.orders().size();
  line.discovery_probability = knowledge.saturation().discovery_probability();
  line.complete = result.steering.complete;
  line.scope = result.steering.scope;
  line.strategy_lines = result.steering.lines;
  line.notes = result.notes;
  line.nondeterminism = result.nondeterminism;
  return line;
}

Status keep_interleavings(history::Database& database, history::CheckRunId run,
                          const report::ExploredTest& line, const std::string& strategy,
                          std::uint64_t executable, const TestExploreResult& result) {
  history::ExplorationRecord record;
  record.test = line.name;
  record.strategy = strategy;
  record.ended = line.end;
  record.executable = executable;
  record.executions = line.executions;
  record.failed = line.failed;
  record.first_failure = line.first_failure;
  record.settled =
      line.failed == 0 && (result.end == ExploreEnd::Saturation || result.end == ExploreEnd::Exhausted);
  if (record.settled) record.settled_by = strategy_identity();
  record.complete = line.complete;
  record.covered = line.patterns.covered;
  record.total = static_cast<double>(line.patterns.total);
  record.feasible = line.patterns.feasible;
  record.impacted_covered = line.patterns.impacted;
  record.impacted_feasible = line.patterns.impacted_feasible;
  record.method_pairs = line.method_pairs;
  record.predecessor_pairs = line.orders;
  return history::put_exploration(database, run, record, Keeping(result).known());
}

}  // namespace simrt::pipeline
