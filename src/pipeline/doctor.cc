#include "pipeline/doctor.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "analysis/mapping/mapping.h"
#include "history/facts_store.h"
#include "history/revision_store.h"
#include "history/run_store.h"
#include "pipeline/workspace.h"

namespace simrt::pipeline {
namespace {

using project::Check;

constexpr double kMappedGoal = 0.95;  // below it, reasons get coarse: rebuild at -O0
constexpr double kViolationGoal = 1.0 / 1000;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Check history_check(const Workspace& workspace) {
  if (!std::filesystem::exists(workspace.database_path()))
    return {"history", false, "nothing recorded yet", "simrt record"};
  auto database = open_history(workspace, history::OpenMode::ReadOnly);
  if (!database) return {"history", false, database.error().message, database.error().hint};
  const auto all = history::revisions(*database);
  if (!all) return {"history", false, all.error().message, all.error().hint};
  if (all->empty()) return {"history", false, "nothing recorded yet", "simrt record"};
  return {"history", true,
          fmt::format("{} revisions, newest {:.10}{}", all->size(), all->front().sha,
                      all->front().complete ? "" : " (not complete)"),
          ""};
}

/// Programs of the recorded tests that still exist.
Result<std::set<std::string>> recorded_programs(history::Database& database, history::RevisionId revision) {
  const auto tests = history::recorded_tests(database, revision, history::WithCoverage::No);
  if (!tests) return fail(tests.error());
  std::set<std::string> programs;
  for (const history::RecordedRun& run : *tests)
    if (!run.test.command.empty() && std::filesystem::exists(run.test.command.front()))
      programs.insert(run.test.command.front());
  return programs;
}

std::vector<Check> mapping_checks(const analysis::MappingReport& report, std::size_t programs) {
  const double mapped = share(report.mapped, report.blocks);
  std::vector<Check> checks = {
      {"programs", programs != 0,
       fmt::format("{} instrumented programs, {} guards, {} functions", programs, report.guards,
                   report.functions),
       "build with the toolchain, then simrt record"},
      {"mapped blocks", mapped >= kMappedGoal,
       fmt::format("{:.2f} % of {} executable blocks have a guard of their own ({} inherit from a dominator, "
                   "{} unknown)",
                   100 * mapped, report.blocks, report.inherited, report.unmapped),
       "build the instrumented tree with -O0 (CMAKE_BUILD_TYPE=Debug)"},
      {"ambiguous guards", true,
       fmt::format("{} of {} ({:.1f} %): all their candidates count as covered", report.ambiguous_guards,
                   report.guards, 100 * share(report.ambiguous_guards, report.guards)),
       ""}};
  if (report.dominator_checks != 0)
    checks.push_back(
        {"dominators", share(report.dominator_violations, report.dominator_checks) < kViolationGoal,
         fmt::format("{} violations in {} checks", report.dominator_violations, report.dominator_checks),
         "build the instrumented tree with -O0 (CMAKE_BUILD_TYPE=Debug)"});
  for (const std::string& example : report.examples) checks.push_back({"example", true, example, ""});
  return checks;
}

}  // namespace

Result<std::vector<Check>> check_setup(const std::string& directory, const std::string& database) {
  const auto workspace = open_workspace(directory, database);
  if (!workspace) return fail(workspace.error());
  std::vector<Check> checks = project::doctor_checks(workspace->root, workspace->config);
  checks.push_back(history_check(*workspace));
  return checks;
}

Result<std::vector<Check>> check_mapping(const std::string& directory, const std::string& path) {
  const auto workspace = open_workspace(directory, path);
  if (!workspace) return fail(workspace.error());
  auto database = open_history(*workspace, history::OpenMode::ReadOnly);
  if (!database) return fail(database.error());
  const auto all = history::revisions(*database);
  if (!all) return fail(all.error());
  if (all->empty()) return fail(ErrorCode::History, "nothing is recorded yet", "simrt record");
  const history::RevisionId revision = all->front().id;
  const auto program = history::load_program(*database, revision);
  if (!program) return fail(program.error());
  const auto points = history::load_points(*database, revision);
  if (!points) return fail(points.error());
  const auto programs = recorded_programs(*database, revision);
  if (!programs) return fail(programs.error());

  analysis::MappingReport report;
  std::size_t instrumented = 0;
  for (const std::string& file : *programs) {
    const auto module = analysis::read_instrumented_module(file);
    if (!module) continue;
    const auto mapping = analysis::map_module(*module, workspace->root, *program, *points);
    if (!mapping) return fail(mapping.error());
    report.add(mapping->report);
    ++instrumented;
  }
  return mapping_checks(report, instrumented);
}

}  // namespace simrt::pipeline
