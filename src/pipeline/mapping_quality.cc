#include "pipeline/mapping_quality.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "history/block_numbers.h"
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

/// What the recorded tests of one program covered, a set a test.
struct RecordedCoverage {
  std::size_t tests = 0, with_coverage = 0;
  std::vector<BlockSet> sets;

  void add(const TestRun& run) {
    ++tests;
    if (!run.has_coverage) return;
    ++with_coverage;
    sets.push_back(run.coverage.all());
  }
};

std::string program_of(const TestCase& test) {
  return (std::filesystem::path(test.directory) / test.command.front()).lexically_normal().string();
}

std::map<std::string, RecordedCoverage> coverage_by_program(const std::vector<history::RecordedRun>& runs) {
  std::map<std::string, RecordedCoverage> programs;
  for (const history::RecordedRun& run : runs)
    if (!run.test.command.empty()) programs[program_of(run.test)].add(run.last);
  return programs;
}

void check_coverage(analysis::ModuleMapping& mapping, const Program& program,
                    const history::BlockNumbering& numbering, const std::vector<BlockSet>& sets) {
  for (const analysis::DominatorPair& pair : analysis::dominator_pairs(mapping, program)) {
    const auto block = numbering.number(pair.block), dominator = numbering.number(pair.dominator);
    if (!pair.exact || !block || !dominator) continue;
    bool covered = false, violated = false;
    for (const BlockSet& set : sets) {
      if (!set.contains(*block)) continue;
      covered = true;
      violated |= !set.contains(*dominator);
    }
    if (covered) analysis::count_check(mapping.report, program, pair, violated);
  }
}

std::vector<Check> checks_of(const MappingQuality& quality) {
  const analysis::MappingReport& report = quality.total.report;
  const std::string rebuild = "build the instrumented tree with -O0 (CMAKE_BUILD_TYPE=Debug)";
  const double mapped = share(report.mapped, report.blocks);
  std::vector<Check> checks = {
      {"programs", !quality.programs.empty(),
       fmt::format("{} instrumented programs, {} guards, {} functions", quality.programs.size(),
                   report.guards, report.functions),
       "build with the toolchain, then simrt record"},
      {"mapped blocks", mapped >= kMappedGoal,
       fmt::format("{:.2f} % of {} executable blocks have a guard of their own ({} inherit from a dominator, "
                   "{} unknown)",
                   100 * mapped, report.blocks, report.inherited, report.unmapped),
       rebuild},
      {"optimisation", report.optimised_functions == 0,
       report.optimised_functions == 0
           ? "none: coverage is told by block"
           : fmt::format(
                 "{} of {} functions are optimised: whoever enters one counts as having covered all of it",
                 report.optimised_functions, report.functions),
       rebuild},
      {"ambiguous guards", true,
       fmt::format("{} of {} ({:.1f} %): all their candidates count as covered", report.ambiguous_guards,
                   report.guards, 100 * share(report.ambiguous_guards, report.guards)),
       ""}};
  if (report.dominator_checks == 0)
    checks.push_back(
        {"dominators", false, "not checked: no coverage of these programs is recorded", "simrt record"});
  else
    checks.push_back(
        {"dominators", share(report.dominator_violations, report.dominator_checks) < kViolationGoal,
         fmt::format("{} violations in {} checks over the coverage of {} tests", report.dominator_violations,
                     report.dominator_checks, quality.total.with_coverage),
         rebuild});
  return checks;
}

}  // namespace

Result<MappingQuality> check_mapping(const std::string& directory, const std::string& path) {
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
  const auto numbering = history::load_block_numbers(*database, *program);
  if (!numbering) return fail(numbering.error());
  const auto runs = history::recorded_tests(*database, revision);
  if (!runs) return fail(runs.error());

  MappingQuality quality;
  for (const auto& [file, coverage] : coverage_by_program(*runs)) {
    const auto module = analysis::read_instrumented_module(file);
    if (!module) {
      quality.skipped.push_back(module.error().message);
      continue;
    }
    auto mapping = analysis::map_module(*module, workspace->root, *program, *points);
    if (!mapping) return fail(mapping.error());
    check_coverage(*mapping, *program, *numbering, coverage.sets);
    quality.programs.push_back({file, coverage.tests, coverage.with_coverage, mapping->report});
    quality.total.tests += coverage.tests;
    quality.total.with_coverage += coverage.with_coverage;
    quality.total.report.add(mapping->report);
  }
  quality.checks = checks_of(quality);
  return quality;
}

}  // namespace simrt::pipeline
