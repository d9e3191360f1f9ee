// `simrt history merge | prune | export | sql`: care of the database, and the user's own queries.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/history_commands.h"
#include "cli/history_output.h"
#include "history/export.h"
#include "history/merge.h"
#include "history/prune.h"
#include "history/sql_console.h"

namespace simrt::cli {
namespace {

struct CareFlags {
  std::vector<std::string> sources, views;
  std::uint32_t keep = 0;
  double days = 0;
  std::uint64_t limit = 10000;
  std::string sql, format = "text";
};

Result<int> merge(const CareFlags& flags, const GlobalOptions& global) {
  auto opened = open_for(global.directory, global.database, history::OpenMode::Create);
  if (!opened) return fail(opened.error());
  report::Table table{{"source", "revisions", "units", "functions", "tests", "runs", "selections", "checks",
                       "findings", "explorations"},
                      {}};
  for (const std::string& source : flags.sources) {
    const auto merged = history::merge(opened->database, source);
    if (!merged) return fail(merged.error());
    table.rows.push_back({source, merged->revisions, merged->units, merged->function_versions, merged->tests,
                          merged->runs, merged->selections, merged->check_runs, merged->findings,
                          merged->explorations});
  }
  return show(table, flags.format);
}

Result<int> prune(const CareFlags& flags, const GlobalOptions& global) {
  if (flags.keep == 0 && flags.days == 0)
    return fail(ErrorCode::Usage, "nothing to prune by", "give --keep REVISIONS or --older-than DAYS");
  auto opened = open_for(global.directory, global.database, history::OpenMode::ReadWrite);
  if (!opened) return fail(opened.error());
  history::PruneOptions options;
  options.keep_revisions = flags.keep;
  options.older_than = static_cast<std::int64_t>(flags.days * 86400);
  options.now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto pruned = history::prune(opened->database, options);
  if (!pruned) return fail(pruned.error());
  return show(
      {{"revisions", "units", "functions", "runs", "selections", "checks", "findings", "bytes_before",
        "bytes_after"},
       {{pruned->revisions, pruned->units, pruned->function_versions, pruned->runs, pruned->selections,
         pruned->check_runs, pruned->findings, pruned->bytes_before, pruned->bytes_after}}},
      flags.format);
}

Result<int> export_lines(const CareFlags& flags, const GlobalOptions& global) {
  auto opened = open_for(global.directory, global.database, history::OpenMode::ReadOnly);
  if (!opened) return fail(opened.error());
  const Status done = history::export_views(
      opened->database, flags.views, [](std::string_view line) { return print(std::string(line) + "\n"); });
  if (!done) return fail(done.error());
  return 0;
}

nlohmann::ordered_json cell_of(const history::SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<history::SqlBlob>(&value))
    return fmt::format("<{} bytes>", blob->bytes.size());
  return nullptr;
}

Result<int> sql(const CareFlags& flags, const GlobalOptions& global) {
  auto opened = open_for(global.directory, global.database, history::OpenMode::ReadOnly);
  if (!opened) return fail(opened.error());
  const auto result = history::run_sql(opened->database, flags.sql, {flags.limit, 60});
  if (!result) return fail(result.error());
  report::Table table{result->columns, {}};
  for (const auto& row : result->rows) {
    auto& cells = table.rows.emplace_back();
    for (const history::SqlValue& value : row) cells.push_back(cell_of(value));
  }
  return show(table, flags.format);
}

using CareAction = Result<int> (*)(const CareFlags&, const GlobalOptions&);

CLI::App* add(CLI::App& parent, const Commands& commands, const std::string& name, const std::string& help,
              const std::shared_ptr<CareFlags>& flags, CareAction action) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([flags, action, &chosen = commands.chosen, &global = commands.global] {
    chosen = [flags, action, &global] { return action(*flags, global); };
  });
  return command;
}

}  // namespace

void add_history_care(CLI::App& history, const Commands& commands) {
  auto flags = std::make_shared<CareFlags>();
  add(history, commands, "merge",
      "Add what other databases hold (shards of a CI matrix); repeating it changes nothing", flags, merge)
      ->add_option("databases", flags->sources, "History files")
      ->required()
      ->check(CLI::ExistingFile);

  flags = std::make_shared<CareFlags>();
  CLI::App* command = add(history, commands, "prune",
                          "Forget old revisions; the newest complete one always stays", flags, prune);
  command->add_option("--keep", flags->keep, "Newest revisions to keep in each environment");
  command->add_option(
      "--older-than", flags->days,
      "Forget revisions recorded and checks made more than this many days ago; bugs proven stay known");

  flags = std::make_shared<CareFlags>();
  add(history, commands, "export", "The documented views as JSON lines", flags, export_lines)
      ->add_option("views", flags->views, "v_tests, v_runs, ... (default: all)");

  flags = std::make_shared<CareFlags>();
  command = add(history, commands, "sql", "One read-only SELECT over the documented views (v_*)", flags, sql);
  command->add_option("query", flags->sql, "select test, mean_seconds from v_tests order by 2 desc")
      ->required();
  command->add_option("--limit", flags->limit, "Rows at most")->capture_default_str();
}

void add_history(Commands commands) {
  CLI::App* history =
      commands.app.add_subcommand("history", "Ask what was recorded, and take care of the database");
  history->require_subcommand(1);
  history->footer("Views for `sql` and `export` are described in db_schema/README.md.");
  add_history_queries(*history, commands);
  add_history_findings(*history, commands);
  add_history_patterns(*history, commands);
  add_history_care(*history, commands);
}

}  // namespace simrt::cli
