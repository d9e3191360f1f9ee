#include "report/explore_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/findings_view.h"

namespace simrt::report {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string coverage_lines(const ExploredTest& test) {
  const PatternFigures& patterns = test.patterns;
  std::string out =
      fmt::format("  patterns   {} instances covered: {} of TC {}, {} of {}{} estimated feasible\n",
                  patterns.covered, percent(patterns.covered, patterns.total), patterns.total,
                  percent(std::min(patterns.covered, patterns.feasible), patterns.feasible),
                  patterns.feasible_cut ? "more than " : "", patterns.feasible);
  if (patterns.remembered > 0)
    out += fmt::format("             {} of them by earlier explorations\n", patterns.remembered);
  if (patterns.impacted_feasible > 0)
    out += fmt::format("             {} of {} that the change touches\n", patterns.impacted,
                       patterns.impacted_feasible);
  out += fmt::format("  beside it  {} method pairs, {} predecessor pairs\n", test.method_pairs, test.orders);
  return out;
}

/// Each kind of failure, when there is more than one.
std::string failure_lines(const ExploredTest& test) {
  std::string out;
  if (test.failure_kinds.size() < 2) return out;
  for (const FailureKind& kind : test.failure_kinds)
    out += fmt::format("             {} x {}{}, first number {}\n", kind.count, kind.ending,
                       kind.places.empty() ? "" : fmt::format(" ({})", fmt::join(kind.places, ", ")),
                       kind.first);
  return out;
}

Json growth_json(const std::vector<CoverageStep>& growth) {
  Json all = Json::array();
  for (const CoverageStep& step : growth)
    all.push_back({{"executions", step.executions},
                   {"covered", step.covered},
                   {"method_pairs", step.method_pairs},
                   {"predecessor_pairs", step.orders},
                   {"failures", step.failure_kinds}});
  return all;
}

Json failures_json(const std::vector<FailureKind>& kinds) {
  Json all = Json::array();
  for (const FailureKind& kind : kinds)
    all.push_back(
        {{"ending", kind.ending}, {"places", kind.places}, {"first", kind.first}, {"count", kind.count}});
  return all;
}

std::string test_text(const ExploredTest& test) {
  std::string out = fmt::format("{}: {} executions, {} threads, at most {} points; stopped: {}\n", test.name,
                                test.executions, test.threads, test.points, test.end);
  if (test.skipped || test.executions == 0) {
    for (const std::string& note : test.notes) out += fmt::format("  note: {}\n", note);
    return out;
  }
  if (test.first_failure != 0)
    out += fmt::format("  failing    {} of them; the first was number {}: {}\n", test.failed,
                       test.first_failure, test.first_ending);
  else
    out += "  failing    none\n";
  out += failure_lines(test);
  out += coverage_lines(test);
  for (const std::string& line : test.strategy_lines) out += fmt::format("  strategy   {}\n", line);
  if (test.complete)
    out += fmt::format("  proven     {} were covered\n", test.scope);
  else
    out +=
        fmt::format("  proven     nothing; another execution covers something new with probability {:.3f}\n",
                    test.discovery_probability);
  for (const std::string& note : test.notes) out += fmt::format("  note: {}\n", note);
  return out;
}

Json nondeterminism_json(const std::optional<Nondeterminism>& found) {
  if (!found) return nullptr;
  Json inputs = Json::array();
  for (const UncontrolledInput& input : found->inputs)
    inputs.push_back({{"kind", input.kind}, {"name", input.name}, {"place", input.place}});
  return {{"differs", found->differs}, {"event", found->event}, {"place", found->place}, {"inputs", inputs}};
}

Json patterns_json(const PatternFigures& patterns) {
  return {{"covered", patterns.covered},           {"total", patterns.total},
          {"feasible", patterns.feasible},         {"feasible_cut", patterns.feasible_cut},
          {"impacted_covered", patterns.impacted}, {"impacted_feasible", patterns.impacted_feasible},
          {"remembered", patterns.remembered}};
}

Json test_json(const ExploredTest& test) {
  return {{"name", test.name},
          {"end", test.end},
          {"skipped", test.skipped},
          {"executions", test.executions},
          {"extra_executions", test.extra},
          {"failed", test.failed},
          {"first_failure", test.first_failure},
          {"first_ending", test.first_ending},
          {"failures", failures_json(test.failure_kinds)},
          {"growth", growth_json(test.growth)},
          {"seconds", test.seconds},
          {"seconds_to_failure", test.seconds_to_failure},
          {"threads", test.threads},
          {"points", test.points},
          {"patterns", patterns_json(test.patterns)},
          {"method_pairs", test.method_pairs},
          {"predecessor_pairs", test.orders},
          {"discovery_probability", test.discovery_probability},
          {"complete", test.complete},
          {"scope", test.scope},
          {"strategy", test.strategy_lines},
          {"nondeterminism", nondeterminism_json(test.nondeterminism)},
          {"notes", test.notes}};
}

}  // namespace

std::size_t ExploreView::new_bugs() const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.status == FindingStatus::Confirmed && finding.standing == Standing::New;
  }));
}

std::string render_explore_text(const ExploreView& view) {
  std::uint64_t executions = 0;
  for (const ExploredTest& test : view.tests) executions += test.executions;
  std::string out = fmt::format("{} {} explored, {} executions in {:.1f} s (strategy {}, seed {})\n",
                                view.tests.size(), view.tests.size() == 1 ? "test" : "tests", executions,
                                view.seconds, view.strategy, view.seed);
  for (const ExploredTest& test : view.tests) out += "\n" + test_text(test);
  std::size_t number = 0;
  for (const Finding& finding : view.findings) out += "\n" + finding_text(finding, ++number);
  out += fmt::format("\n{} new {}, {} in all\n", view.new_bugs(), view.new_bugs() == 1 ? "bug" : "bugs",
                     view.findings.size());
  if (view.not_run > 0) out += fmt::format("incomplete: {} tests not explored\n", view.not_run);
  for (const std::string& note : view.notes) out += fmt::format("note: {}\n", note);
  return out;
}

std::string render_explore_json(const ExploreView& view) {
  Json json{{"schema", 1},
            {"head", view.head},
            {"base", view.base},
            {"strategy", view.strategy},
            {"seed", view.seed},
            {"seconds", view.seconds},
            {"kept", view.kept},
            {"not_run", view.not_run},
            {"new_bugs", view.new_bugs()},
            {"tests", Json::array()},
            {"findings", Json::array()},
            {"notes", view.notes}};
  for (const ExploredTest& test : view.tests) json["tests"].push_back(test_json(test));
  for (const Finding& finding : view.findings) json["findings"].push_back(finding_json(finding));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace simrt::report
