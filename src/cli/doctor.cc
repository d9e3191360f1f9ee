// `simrt doctor`: what is missing, and how good the mapping is.
#include "pipeline/doctor.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "pipeline/mapping_quality.h"
#include "report/table.h"

namespace simrt::cli {
namespace {

using nlohmann::ordered_json;
using pipeline::MappingQuality;
using pipeline::ProgramMapping;

std::string checks_text(const std::vector<project::Check>& checks) {
  std::string out;
  for (const project::Check& check : checks) {
    out += fmt::format("{} {}: {}\n", check.ok ? "ok     " : "MISSING", check.name, check.detail);
    if (!check.ok && !check.hint.empty()) out += fmt::format("        -> {}\n", check.hint);
  }
  return out;
}

ordered_json checks_json(const std::vector<project::Check>& checks) {
  auto json = ordered_json::array();
  for (const project::Check& check : checks)
    json.push_back({{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}, {"hint", check.hint}});
  return json;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<ordered_json> table_row(const ProgramMapping& program) {
  const analysis::MappingReport& report = program.report;
  return {program.path.empty() ? "all" : program.path,
          report.blocks,
          report.mapped,
          fmt::format("{:.2f}", percent(report.mapped, report.blocks)),
          report.inherited,
          report.unmapped,
          report.ambiguous_guards,
          report.dominator_checks,
          report.dominator_violations,
          program.with_coverage};
}

std::string mapping_text(const MappingQuality& quality) {
  report::Table table{{"program", "blocks", "mapped", "%", "inherit", "unknown", "ambiguous guards", "checks",
                       "violations", "tests"},
                      {}};
  for (const ProgramMapping& program : quality.programs) table.rows.push_back(table_row(program));
  table.rows.push_back(table_row(quality.total));
  std::string out = report::render_text(table) + "\n" + checks_text(quality.checks);
  for (const std::string& skipped : quality.skipped) out += fmt::format("skipped: {}\n", skipped);
  const analysis::MappingReport& total = quality.total.report;
  for (const std::string& violation : total.violations) out += fmt::format("violation: {}\n", violation);
  for (const std::string& example : total.examples) out += fmt::format("example: {}\n", example);
  return out;
}

ordered_json mapping_json(const ProgramMapping& program) {
  const analysis::MappingReport& report = program.report;
  return {{"program", program.path},
          {"tests", program.tests},
          {"tests_with_coverage", program.with_coverage},
          {"functions", report.functions},
          {"optimised_functions", report.optimised_functions},
          {"blocks", report.blocks},
          {"mapped", report.mapped},
          {"mapped_percent", percent(report.mapped, report.blocks)},
          {"inherited", report.inherited},
          {"unknown", report.unmapped},
          {"guards", report.guards},
          {"foreign_guards", report.foreign_guards},
          {"ambiguous_guards", report.ambiguous_guards},
          {"dominator_checks", report.dominator_checks},
          {"dominator_violations", report.dominator_violations},
          {"examples", report.examples},
          {"violations", report.violations}};
}

ordered_json mapping_json(const MappingQuality& quality) {
  auto programs = ordered_json::array();
  for (const ProgramMapping& program : quality.programs) programs.push_back(mapping_json(program));
  ordered_json total = mapping_json(quality.total);
  total.erase("program");
  return {{"programs", programs},
          {"total", total},
          {"skipped", quality.skipped},
          {"checks", checks_json(quality.checks)}};
}

Result<int> say(const std::string& text, const std::vector<project::Check>& checks) {
  if (Status done = print(text); !done) return fail(done.error());
  for (const project::Check& check : checks)
    if (!check.ok) return static_cast<int>(ErrorCode::Project);
  return 0;
}

Result<int> setup(bool json, const GlobalOptions& global) {
  const auto checks = pipeline::check_setup(global.directory, global.database);
  if (!checks) return fail(checks.error());
  return say(json ? checks_json(*checks).dump(2) + "\n" : checks_text(*checks), *checks);
}

Result<int> mapping(bool json, const GlobalOptions& global) {
  const auto quality = pipeline::check_mapping(global.directory, global.database);
  if (!quality) return fail(quality.error());
  return say(json ? mapping_json(*quality).dump(2) + "\n" : mapping_text(*quality), quality->checks);
}

}  // namespace

void add_doctor(Commands commands) {
  auto deep = std::make_shared<bool>(false);
  auto format = std::make_shared<std::string>("text");
  CLI::App* command = commands.app.add_subcommand("doctor", "Say what is missing, and how to get it");
  command->add_flag("--mapping", *deep,
                    "Check how well the instrumented programs map to CFG blocks, and the recorded coverage "
                    "against the blocks' dominators (runs nothing)");
  command->add_option("--format", *format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([deep, format, commands] {
    commands.chosen = [deep, format, &global = commands.global] {
      return *deep ? mapping(*format == "json", global) : setup(*format == "json", global);
    };
  });
}

}  // namespace simrt::cli
