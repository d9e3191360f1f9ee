// `simrt history patterns`: interleaving coverage as simrt explore left it, and its trend over revisions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/history_commands.h"
#include "cli/history_output.h"
#include "history/exploration_store.h"

namespace simrt::cli {
namespace {

struct PatternFlags {
  std::string format = "text", test, by;
  bool uncovered = false, covered = false, trend = false, method_pairs = false;
  std::size_t limit = 100;
};

using Sites = std::map<SiteId, history::InterleavingSite>;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<SiteId> used(const history::StoredInstance& instance) {
  std::vector<SiteId> sites;
  for (const SiteId site : instance.sites)
    if (site) sites.push_back(site);
  return sites;
}

/// A row an exploration, oldest first.
report::Table trend_table(const std::vector<history::ExplorationRecord>& explorations) {
  report::Table table{{"test", "head", "explored", "strategy", "executions", "failed", "covered", "total",
                       "percent_of_total", "feasible", "percent_of_feasible", "impacted", "method_pairs",
                       "predecessor_pairs", "complete", "stopped"},
                      {}};
  for (const auto& each : explorations)
    table.rows.push_back(
        {each.test, each.head.substr(0, 12), report::format_time(each.started_at), each.strategy,
         each.executions, each.failed, each.covered, fmt::format("{:.0f}", each.total),
         each.total > 0 ? fmt::format("{:.2f}", 100.0 * static_cast<double>(each.covered) / each.total) : "-",
         each.feasible, percent(std::min(each.covered, each.feasible), each.feasible),
         each.impacted_feasible == 0 ? "-"
                                     : fmt::format("{}/{}", each.impacted_covered, each.impacted_feasible),
         each.method_pairs, each.predecessor_pairs, each.complete ? "yes" : "no", each.ended});
  return table;
}

/// The newest exploration of each test.
std::vector<history::ExplorationRecord> newest(const std::vector<history::ExplorationRecord>& explorations) {
  std::map<std::string, history::ExplorationRecord> by_test;
  for (const auto& each : explorations) by_test[each.test] = each;
  std::vector<history::ExplorationRecord> result;
  result.reserve(by_test.size());
  for (const auto& [test, each] : by_test) result.push_back(each);
  return result;
}

/// Instances all of whose sites lie in one file, function or class count for it; by pattern: all.
report::Table grouped_table(const std::vector<std::pair<history::StoredInstance, const Sites*>>& instances,
                            const std::string& by) {
  struct Count {
    std::uint64_t covered = 0, known = 0;
  };
  std::map<std::string, Count> counts;
  const auto key = [&](const history::InterleavingSite& site) -> std::string {
    if (by == "file") return site.file;
    if (by == "function") return site.function;
    const auto scope = site.function.rfind("::");
    return scope == std::string::npos ? site.file : site.function.substr(0, scope);
  };
  for (const auto& [instance, sites] : instances) {
    std::set<std::string> keys;
    if (by == "pattern") {
      keys.insert(fmt::format("{:>2}", instance.pattern));
    } else {
      for (const SiteId site : used(instance))
        if (const auto at = sites->find(site); at != sites->end()) keys.insert(key(at->second));
    }
    if (keys.size() != 1) continue;
    Count& count = counts[*keys.begin()];
    ++count.known;
    count.covered += instance.covered ? 1 : 0;
  }
  report::Table table{{by, "covered", "known", "percent"}, {}};
  for (const auto& [name, count] : counts)
    table.rows.push_back({name, count.covered, count.known, percent(count.covered, count.known)});
  return table;
}

report::Table instance_table(const std::vector<std::pair<history::StoredInstance, const Sites*>>& instances,
                             const PatternFlags& flags) {
  report::Table table{{"pattern", "covered", "sites"}, {}};
  for (const auto& [instance, sites] : instances) {
    if ((flags.uncovered && instance.covered) || (flags.covered && !instance.covered)) continue;
    if (table.rows.size() == flags.limit) break;
    std::vector<std::string> places;
    for (const SiteId site : used(instance)) {
      const auto at = sites->find(site);
      places.push_back(at == sites->end() ? "?"
                                          : fmt::format("{} {}:{}:{}", at->second.function, at->second.file,
                                                        at->second.line, at->second.column));
    }
    table.rows.push_back({static_cast<std::uint64_t>(instance.pattern), instance.covered ? "yes" : "no",
                          fmt::format("{}", fmt::join(places, " -> "))});
  }
  return table;
}

Result<int> patterns(const PatternFlags& flags, const GlobalOptions& global) {
  auto opened = open_for(global.directory, global.database, history::OpenMode::ReadOnly);
  if (!opened) return fail(opened.error());
  const auto explorations = history::explorations_of(opened->database, flags.test);
  if (!explorations) return fail(explorations.error());
  if (explorations->empty())
    return fail(ErrorCode::History,
                flags.test.empty() ? "nothing was explored yet"
                                   : fmt::format("no test {} was explored yet", flags.test),
                "simrt explore does it");
  if (flags.trend) return show(trend_table(*explorations), flags.format);
  const bool lists = flags.covered || flags.uncovered;
  if (!lists && !flags.method_pairs && flags.by.empty())
    return show(trend_table(newest(*explorations)), flags.format);
  std::vector<Sites> sites_of_tests;
  std::vector<std::pair<history::StoredInstance, const Sites*>> instances;
  report::Table pairs{{"test", "first", "second", "executions"}, {}};
  const auto tests = newest(*explorations);
  sites_of_tests.reserve(tests.size());
  for (const auto& each : tests) {
    const auto known = history::interleavings_of(opened->database, each.test);
    if (!known) return fail(known.error());
    Sites& sites = sites_of_tests.emplace_back();
    for (const auto& site : known->sites) sites.emplace(site.site, site);
    for (const auto& instance : known->instances) instances.emplace_back(instance, &sites);
    for (const auto& pair : known->method_pairs)
      pairs.rows.push_back({each.test, pair.first, pair.second, pair.executions});
  }
  if (flags.method_pairs) return show(pairs, flags.format);
  return show(lists ? instance_table(instances, flags) : grouped_table(instances, flags.by), flags.format);
}

}  // namespace

void add_history_patterns(CLI::App& history, const Commands& commands) {
  auto flags = std::make_shared<PatternFlags>();
  CLI::App* command = history.add_subcommand(
      "patterns", "Interleavings that simrt explore covered, of each test; the trend over revisions");
  command->add_option("test", flags->test, "Only of this test");
  command->add_flag("--trend", flags->trend, "Every exploration, oldest first, instead of the newest");
  command->add_option("--by", flags->by, "Sum up by pattern, file, class or function")
      ->check(CLI::IsMember({"pattern", "file", "class", "function"}));
  command->add_flag("--uncovered", flags->uncovered, "List predicted instances that were not brought about");
  command->add_flag("--covered", flags->covered, "List covered instances");
  command->add_flag("--method-pairs", flags->method_pairs, "List the methods that ran at the same time");
  command->add_option("--limit", flags->limit, "Most instances listed")->capture_default_str();
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([flags, &chosen = commands.chosen, &global = commands.global] {
    chosen = [flags, &global] { return patterns(*flags, global); };
  });
}

}  // namespace simrt::cli
