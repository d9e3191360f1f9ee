#include "pipeline/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "history/block_numbers.h"
#include "history/facts_store.h"
#include "history/revision_store.h"
#include "pipeline/environment.h"
#include "pipeline/record_facts.h"
#include "pipeline/record_tests.h"
#include "pipeline/recorded_commands.h"
#include "pipeline/stale_build.h"
#include "pipeline/workspace.h"
#include "support/log.h"
#include "support/task_pool.h"

namespace simrt::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t now_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

/// Tracked files that differ from HEAD, the first few.
Status refuse_dirty(const Workspace& workspace, const std::string& head) {
  const auto changes = workspace.repository.diff(head, git::kWorkTree);
  if (!changes) return fail(changes.error());
  std::string names;
  for (const FileChange& change : *changes)
    if (change.status != FileStatus::Added && names.size() < 200)
      names += (names.empty() ? "" : ", ") + change.old_path;
  if (names.empty()) return {};
  return fail(ErrorCode::Repository, fmt::format("tracked files differ from HEAD: {}", names),
              "commit or stash them, so that what is recorded has a name; or --allow-dirty");
}

class Recording {
 public:
  explicit Recording(const RecordRequest& request) : request_(request) {}

  Result<RecordSummary> run() {
    const auto start = Clock::now();
    if (Status ready = prepare(); !ready) return fail(ready.error());
    Status done = facts();
    if (done && !request_.facts_only) done = tests();
    if (!done && done.error().code != ErrorCode::Interrupted) return fail(done.error());
    if (done) {
      if (Status finished = finish(); !finished) return fail(finished.error());
    }
    summary_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(summary_);
  }

 private:
  Status prepare() {
    if (!request_.shard.empty()) {
      const auto shard = testing::parse_shard(request_.shard);
      if (!shard) return fail(shard.error());
      shard_ = *shard;
    }
    auto workspace = open_workspace(request_.directory, request_.database);
    if (!workspace) return fail(workspace.error());
    workspace_.emplace(std::move(*workspace));
    const auto head = workspace_->repository.resolve("HEAD");
    if (!head) return fail(head.error());
    summary_.revision = *head;
    summary_.database = workspace_->database_path();
    if (!request_.allow_dirty)
      if (Status clean = refuse_dirty(*workspace_, *head); !clean) return clean;
    const auto compile_database = find_compile_database(*workspace_);
    if (!compile_database) return fail(compile_database.error());
    compile_database_ = *compile_database;
    commands_ = load_commands(*workspace_, compile_database_);
    if (!commands_) return fail(commands_.error());
    auto tree =
        workspace_->repository.tree(request_.allow_dirty ? std::string(git::kWorkTree) : summary_.revision);
    if (!tree) return fail(tree.error());
    tree_ = std::move(*tree);
    if (!request_.facts_only)
      if (Status found = find_tests(); !found) return found;
    auto database = open_history(*workspace_, history::OpenMode::Create);
    if (!database) return fail(database.error());
    database_.emplace(std::move(*database));
    return begin();
  }

  /// Before anything is stored: what cannot be recorded leaves the history as it is.
  Status find_tests() {
    auto found = tests_to_record(*workspace_, request_);
    if (!found) return fail(found.error());
    summary_.warnings.insert(summary_.warnings.end(), found->warnings.begin(), found->warnings.end());
    tests_ = std::move(found->tests);
    all_found_ = found->complete;
    stale_.emplace(workspace_->root, tree_->files());
    return refuse_stale_build(*workspace_, tests_, *stale_, summary_.warnings);
  }

  Status begin() {
    environment_ = describe_environment(workspace_->config.instrumented_directory, workspace_->root);
    history::RevisionInfo info;
    info.sha = summary_.revision;
    info.environment = environment_.key;
    info.recorded_at = now_seconds();
    info.shallow = workspace_->repository.is_shallow();
    info.tool = SIMRT_VERSION;
    const auto revision = history::begin_revision(
        *database_, info, environment_, records_suite() ? history::Extent::Suite : history::Extent::Part);
    if (!revision) return fail(revision.error());
    revision_ = *revision;
    return {};
  }

  Status facts() {
    const UnitCommands commands = unit_commands(*commands_, {}, *tree_, {}, workspace_->root);
    if (commands.by_path.empty())
      return fail(ErrorCode::Project, "the compile database names no source of this repository",
                  "configure the build in this clone, or correct build.compile_commands in .simrt.toml");
    const std::string build = std::filesystem::path(compile_database_).parent_path().string();
    if (Status kept = history::put_commands(*database_, revision_,
                                            portable_commands(commands, {workspace_->root, build}));
        !kept)
      return kept;
    const unsigned jobs = request_.jobs != 0 ? request_.jobs : available_processors();
    const auto recorded =
        record_facts(*workspace_, *database_, revision_, tree_, commands, jobs, request_.interrupt);
    if (!recorded) return fail(recorded.error());
    summary_.facts_only = request_.facts_only;
    summary_.units = recorded->units;
    summary_.parsed_units = recorded->parsed;
    summary_.broken_units = recorded->broken;
    for (const std::string& message : recorded->messages) summary_.warnings.push_back(message);
    return {};
  }

  Status tests() {
    auto program = history::load_program(*database_, revision_);
    if (!program) return fail(program.error());
    const auto points = history::load_points(*database_, revision_);
    if (!points) return fail(points.error());
    const auto numbering = history::assign_block_numbers(*database_, *program);
    if (!numbering) return fail(numbering.error());
    summary_.functions = program->functions.size();

    GuardMapper mapper(*database_, *program, *points, *numbering, workspace_->root, now_seconds());
    const UnemittedFunctions unemitted(*program, *numbering);
    TraceCoverage traces(mapper, unemitted, *stale_, workspace_->root);
    const TestRecording recording{*workspace_, *database_, revision_,       environment_.key,
                                  request_,    traces,     replaces_suite()};
    const Status done = record_tests(recording, tests_, shard_, summary_);
    const analysis::MappingReport& report = mapper.report();
    summary_.blocks = report.blocks;
    summary_.mapped = report.mapped;
    summary_.inherited = report.inherited;
    summary_.unmapped = report.unmapped;
    summary_.optimised_functions = report.optimised_functions;
    return done;
  }

  Status finish() {
    if (!records_suite()) return note_complete();
    if (Status done = history::finish_revision(*database_, revision_, {shard_.index, shard_.count}); !done)
      return done;
    summary_.complete = true;
    return {};
  }

  bool records_suite() const { return !request_.facts_only && request_.only.empty(); }

  /// Whether tests that were not found are gone. A shard may have been built with its own tests only.
  bool replaces_suite() const {
    return records_suite() && shard_.count == 1 && all_found_ && !request_.allow_dirty;
  }

  /// Whether an earlier recording of the whole suite still stands.
  Status note_complete() {
    const auto recorded = history::find_revision(*database_, summary_.revision, environment_.key);
    if (!recorded) return fail(recorded.error());
    summary_.complete = *recorded && (*recorded)->complete;
    return {};
  }

  const RecordRequest& request_;
  testing::Shard shard_;
  std::optional<Workspace> workspace_;
  std::optional<history::Database> database_;
  std::string compile_database_;
  Result<std::vector<analysis::CompileCommand>> commands_;
  history::Environment environment_;
  history::RevisionId revision_;
  std::shared_ptr<const SourceTree> tree_;  ///< what is recorded
  std::vector<TestCase> tests_;             ///< all of the build
  bool all_found_ = false;                  ///< no program of the build is missing
  std::optional<analysis::StaleSources> stale_;
  RecordSummary summary_;
};

std::string counts_of(const RecordSummary& summary) {
  return fmt::format(
      "recorded {:.10} in {:.1f} s: {} units ({} parsed), {} functions, {} tests ({} ran, {} unchanged)\n"
      "  {} passed, {} failed, {} crashed, {} timed out, {} skipped; {} with two threads or more\n",
      summary.revision, summary.seconds, summary.units, summary.parsed_units, summary.functions,
      summary.tests, summary.ran, summary.reused, summary.passed, summary.failed, summary.crashed,
      summary.timed_out, summary.skipped, summary.multi_threaded);
}

/// They are selected whatever changes, so this says how to get rid of that.
std::string told_without_coverage(const std::vector<std::string>& tests) {
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(tests.size(), kNamed); ++i) names += (i == 0 ? "" : ", ") + tests[i];
  if (tests.size() > kNamed) names += ", ...";
  return fmt::format(
      "  {} left no coverage ({}) and will always be selected: build programs with the toolchain (simrt "
      "doctor); "
      "name scripts that run no code of the project under [tests] exclude in .simrt.toml\n",
      tests.size() == 1 ? "1 test" : fmt::format("{} tests", tests.size()), names);
}

}  // namespace

Result<RecordSummary> run_record(const RecordRequest& request) { return Recording(request).run(); }

std::string render_record(const RecordSummary& summary) {
  std::string out;
  if (summary.facts_only)
    out = fmt::format("recorded the facts of {:.10} in {:.1f} s: {} units ({} parsed), no tests\n",
                      summary.revision, summary.seconds, summary.units, summary.parsed_units);
  else
    out = counts_of(summary);
  if (summary.blocks != 0)
    out += fmt::format("  {:.1f} % of {} blocks mapped ({} take the coverage of a dominator, {} unknown)\n",
                       100.0 * static_cast<double>(summary.mapped) / static_cast<double>(summary.blocks),
                       summary.blocks, summary.inherited, summary.unmapped);
  if (summary.optimised_functions != 0)
    out +=
        fmt::format("  {} functions are optimised: their coverage is told by function; with -O0 by block\n",
                    summary.optimised_functions);
  if (summary.gone != 0)
    out += fmt::format("  {} of an earlier recording {} gone: no candidate{} any more\n",
                       summary.gone == 1 ? "1 test" : fmt::format("{} tests", summary.gone),
                       summary.gone == 1 ? "is" : "are", summary.gone == 1 ? "" : "s");
  if (!summary.without_coverage.empty()) out += told_without_coverage(summary.without_coverage);
  for (const std::string& failure : summary.failures) out += "  " + failure + "\n";
  for (const std::string& warning : summary.warnings) out += "  warning: " + warning + "\n";
  if (!summary.complete) out += "  not complete: tests that were not recorded will be selected\n";
  return out;
}

std::string render_record_json(const RecordSummary& s) {
  const nlohmann::ordered_json json{{"revision", s.revision},
                                    {"database", s.database},
                                    {"seconds", s.seconds},
                                    {"units", s.units},
                                    {"parsed_units", s.parsed_units},
                                    {"broken_units", s.broken_units},
                                    {"functions", s.functions},
                                    {"tests", s.tests},
                                    {"ran", s.ran},
                                    {"reused", s.reused},
                                    {"passed", s.passed},
                                    {"failed", s.failed},
                                    {"crashed", s.crashed},
                                    {"timed_out", s.timed_out},
                                    {"skipped", s.skipped},
                                    {"gone", s.gone},
                                    {"without_coverage", s.without_coverage.size()},
                                    {"tests_without_coverage", s.without_coverage},
                                    {"multi_threaded", s.multi_threaded},
                                    {"blocks", s.blocks},
                                    {"mapped", s.mapped},
                                    {"inherited", s.inherited},
                                    {"unmapped", s.unmapped},
                                    {"optimised_functions", s.optimised_functions},
                                    {"complete", s.complete},
                                    {"failures", s.failures},
                                    {"warnings", s.warnings}};
  return json.dump(2) + "\n";
}

}  // namespace simrt::pipeline
