// `simrt history tests | coverage | pairs | runs | slow | flaky | stats`: questions about what was recorded.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/command.h"
#include "cli/history_commands.h"
#include "cli/history_output.h"
#include "history/selection_store.h"
#include "history/stats.h"
#include "history/test_queries.h"

namespace simrt::cli {
namespace {

using report::Table;

struct Query {
  std::string place, test, revision, format = "text";
  std::uint32_t threads = 1, limit = 20;
  bool uncovered = false;
};

/// "src/db.cc:120" -> file and line; anything else is a function's name.
std::optional<std::pair<std::string, std::uint32_t>> file_and_line(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos || colon == 0 || place[colon - 1] == ':') return std::nullopt;
  std::uint32_t line = 0;
  const auto [end, error] = std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
  if (error != std::errc() || end != place.data() + place.size()) return std::nullopt;
  return std::pair(place.substr(0, colon), line);
}

Result<int> tests_at(OpenedHistory& opened, const Query& query) {
  const auto revision = recorded_revision(opened, query.revision);
  if (!revision) return fail(revision.error());
  const auto at = file_and_line(query.place);
  const auto place = at ? history::blocks_at_line(opened.database, revision->id, at->first, at->second)
                        : history::blocks_of_function(opened.database, revision->id, query.place);
  if (!place) return fail(place.error());
  if (place->functions.empty())
    return fail(ErrorCode::Usage, fmt::format("nothing recorded at '{}'", query.place),
                "give FILE:LINE (repository-relative) or a function's name, such as DBImpl::Get");
  const auto tests = history::tests_covering(opened.database, revision->id, place->blocks, query.threads);
  if (!tests) return fail(tests.error());
  Table table{{"test", "threads", "blocks", "outcome", "seconds"}, {}};
  for (const history::CoveringTest& test : *tests)
    table.rows.push_back({test.test, test.threads, test.blocks, outcome_name(test.outcome), test.seconds});
  return show(table, query.format);
}

Result<int> coverage(OpenedHistory& opened, const Query& query) {
  const auto revision = recorded_revision(opened, query.revision);
  if (!revision) return fail(revision.error());
  const auto found = history::coverage_of_test(opened.database, revision->id, test_id(query.test));
  if (!found) return fail(found.error());
  Table table{{"file", "function", "covered", "total", "threads"}, {}};
  for (const history::FunctionCoverage& function : found->functions) {
    std::string threads;
    for (const auto& [role, blocks] : function.threads)
      threads += fmt::format("{}{} ({})", threads.empty() ? "" : ", ", role, blocks);
    table.rows.push_back({function.file, function.function, function.covered, function.total, threads});
  }
  return show(table, query.format);
}

nlohmann::ordered_json access_cell(const history::StoredAccess& access) {
  return fmt::format("{} {}:{}:{}{}", access.mode == AccessMode::Read ? "read" : "write", access.file,
                     access.line, access.column, access.impacted ? " *" : "");
}

Result<int> pairs(OpenedHistory& opened, const Query& query) {
  history::PairFilter filter;
  filter.uncovered_only = query.uncovered;
  filter.limit = query.limit;
  const auto found = history::selection_pairs(opened.database, filter);
  if (!found) return fail(found.error());
  Table table{{"variable", "first", "second", "covered", "rule", "cause"}, {}};
  for (const history::StoredPair& pair : *found)
    table.rows.push_back({pair.variable, access_cell(pair.first), access_cell(pair.second), pair.covered,
                          pair.rule, pair.cause});
  return show(table, query.format);
}

Result<int> runs(OpenedHistory& opened, const Query& query) {
  const auto found = history::runs(opened.database, query.test, query.limit);
  if (!found) return fail(found.error());
  Table table{
      {"finished", "test", "revision", "outcome", "exit", "seconds", "threads", "blocks", "reused", "notes"},
      {}};
  for (const history::RunRow& run : *found) {
    std::string notes;
    for (const std::string& note : run.notes) notes += (notes.empty() ? "" : "; ") + note;
    table.rows.push_back({report::format_time(run.finished_at / 1000), run.test, run.sha.substr(0, 10),
                          outcome_name(run.outcome), run.exit_code, run.seconds, run.threads, run.blocks,
                          run.reused, notes});
  }
  return show(table, query.format);
}

Result<int> slow(OpenedHistory& opened, const Query& query) {
  const auto found = history::slow_tests(opened.database, query.limit);
  if (!found) return fail(found.error());
  Table table{{"test", "runs", "mean_seconds", "max_seconds", "last_seconds"}, {}};
  for (const history::TestTiming& test : *found)
    table.rows.push_back({test.test, test.runs, test.mean_seconds, test.max_seconds, test.last_seconds});
  return show(table, query.format);
}

Result<int> flaky(OpenedHistory& opened, const Query& query) {
  const auto found = history::flaky_tests(opened.database);
  if (!found) return fail(found.error());
  Table table{{"test", "passed", "failed", "executable", "last"}, {}};
  for (const history::FlakyTest& test : *found)
    table.rows.push_back({test.test, test.passed, test.failed, fmt::format("{:016x}", test.executable),
                          report::format_time(test.last_at / 1000)});
  return show(table, query.format);
}

Result<int> stats(OpenedHistory& opened, const Query& query) {
  const auto found = history::stats(opened.database);
  if (!found) return fail(found.error());
  const history::Stats& s = *found;
  const bool json = query.format == "json";
  const auto bytes = [&](double value) {
    return json ? nlohmann::ordered_json(value) : nlohmann::ordered_json(report::format_bytes(value));
  };
  Table table{{"what", "value"},
              {{"database", s.file_bytes ? bytes(static_cast<double>(s.file_bytes)) : bytes(0)},
               {"free in it", bytes(static_cast<double>(s.free_bytes))},
               {"revisions", s.revisions},
               {"units", s.units},
               {"functions", s.functions},
               {"blocks", s.blocks},
               {"tests", s.tests},
               {"runs", s.runs},
               {"selections", s.selections},
               {"facts", bytes(static_cast<double>(s.facts_bytes))},
               {"points", bytes(static_cast<double>(s.points_bytes))},
               {"coverage", bytes(static_cast<double>(s.coverage_bytes))},
               {"mappings", bytes(static_cast<double>(s.mapping_bytes))},
               {"coverage a test", bytes(s.bytes_per_test)},
               {"facts and points a block", bytes(s.bytes_per_block)}}};
  return show(table, query.format);
}

using Answer = Result<int> (*)(OpenedHistory&, const Query&);

CLI::App* add(CLI::App& parent, const Commands& commands, const std::string& name, const std::string& help,
              const std::shared_ptr<Query>& query, Answer answer) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->add_option("--format", query->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([query, answer, &chosen = commands.chosen, &global = commands.global] {
    chosen = [query, answer, &global]() -> Result<int> {
      auto opened = open_for(global.directory, global.database, history::OpenMode::ReadOnly);
      if (!opened) return fail(opened.error());
      return answer(*opened, *query);
    };
  });
  return command;
}

}  // namespace

void add_history_queries(CLI::App& history, const Commands& commands) {
  auto query = std::make_shared<Query>();
  CLI::App* command =
      add(history, commands, "tests", "Tests that cover a place: FILE:LINE or a function", query, tests_at);
  command->add_option("place", query->place, "src/db.cc:120, or DBImpl::Get")->required();
  command->add_option("--threads", query->threads, "Only tests that reach it with this many threads");
  command->add_option("--revision", query->revision, "Recorded revision (default: the newest)");

  query = std::make_shared<Query>();
  command = add(history, commands, "coverage",
                "What a test covers, function by function and thread by thread", query, coverage);
  command->add_option("test", query->test, "Full name of the test")->required();
  command->add_option("--revision", query->revision, "Recorded revision (default: the newest)");

  query = std::make_shared<Query>();
  query->limit = 10000;
  command = add(history, commands, "pairs",
                "Impacted pairs of the last selection (* marks the impacted access)", query, pairs);
  command->add_flag("--uncovered", query->uncovered,
                    "Only pairs that no recorded test reaches with two threads");
  command->add_option("--limit", query->limit, "Rows at most")->capture_default_str();

  query = std::make_shared<Query>();
  command = add(history, commands, "runs", "Recorded runs, newest first", query, runs);
  command->add_option("test", query->test, "Only runs of this test");
  command->add_option("--limit", query->limit, "Rows at most")->capture_default_str();

  query = std::make_shared<Query>();
  command = add(history, commands, "slow", "Slowest tests", query, slow);
  command->add_option("--limit", query->limit, "Rows at most")->capture_default_str();

  add(history, commands, "flaky", "Tests that passed and failed with one and the same executable",
      std::make_shared<Query>(), flaky);
  add(history, commands, "stats", "Size of the history and what takes the space", std::make_shared<Query>(),
      stats);
}

}  // namespace simrt::cli
