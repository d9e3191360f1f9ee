#include "pipeline/check/replay.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "history/finding_store.h"
#include "pipeline/check/verify.h"
#include "pipeline/check/witness.h"
#include "pipeline/execution/inputs.h"
#include "pipeline/execution/test_program.h"
#include "pipeline/test_discovery.h"
#include "pipeline/workspace.h"
#include "support/files.h"
#include "support/hash.h"
#include "testing/executable_identity.h"
#include "testing/run_file.h"

namespace simrt::pipeline {
namespace {

constexpr std::size_t kStepsTraced = 2000;

struct Replaying {
  std::string root;
  history::Witness witness;
  TestCase test;
  testing::CheckPlan plan;
  bool same_program = false;  // as the one that the witness was found with
};

Result<history::Witness> load_witness(history::Database& database, const ReplayRequest& request,
                                      ReplayOutcome& outcome) {
  auto witness = history::find_witness(database, request.witness);
  if (!witness) return fail(witness.error());
  if (!*witness)
    return fail(ErrorCode::History, fmt::format("no witness, or several, fit '{}'", request.witness),
                "simrt history findings lists them");
  const auto known = history::known_findings(database);
  if (!known) return fail(known.error());
  for (const history::KnownFinding& finding : *known)
    if (finding.witness == (*witness)->id) outcome.title = finding.record.title;
  return std::move(**witness);
}

/// The witness' test as the check build has it now.
Result<TestCase> find_test(const Workspace& workspace, const std::string& build, const std::string& name,
                           const ReplayRequest& request, ReplayOutcome& outcome) {
  auto tests = tests_of_build(workspace.config, build, "build it again (SIMRT_BUILD=check)", outcome.notes,
                              request.interrupt);
  if (!tests) return fail(tests.error());
  const auto test =
      std::find_if(tests->begin(), tests->end(), [&](const TestCase& t) { return t.name == name; });
  if (test == tests->end())
    return fail(ErrorCode::Project, fmt::format("the check build has no test {} any more", name),
                "run simrt check again");
  return *test;
}

Result<Replaying> prepare(const ReplayRequest& request, ReplayOutcome& outcome) {
  auto workspace = open_workspace(request.directory, request.database);
  // A program outside a repository has a history of its own.
  const bool alone = !workspace && !request.database.empty();
  if (!workspace && !alone) return fail(workspace.error());
  auto database = alone ? history::Database::open(request.database, {})
                        : open_history(*workspace, history::OpenMode::ReadOnly);
  if (!database) return fail(database.error());
  auto witness = load_witness(*database, request, outcome);
  if (!witness) return fail(witness.error());
  auto plan = decode_plan(witness->plan);
  if (!plan) return fail(plan.error());
  const std::string root = alone ? canonical_path(request.directory) : workspace->root;
  const std::string build = workspace && request.build.empty() ? workspace->config.check_directory
                                                               : absolute_path(request.build, root);
  const auto program = decode_program(witness->plan);
  if (alone && !program) return fail(workspace.error());
  auto test =
      program ? Result<TestCase>(*program) : find_test(*workspace, build, witness->test, request, outcome);
  if (!test) return fail(test.error());
  testing::ExecutableIdentity identity({root, build});
  const auto executable = identity.of(*test);
  const bool same_program = executable && *executable == witness->executable;
  if (!same_program)
    outcome.notes.emplace_back(
        "the program was built anew since: the schedule may not fit (simrt check finds one for this build)");
  return Replaying{root, std::move(*witness), std::move(*test), std::move(*plan), same_program};
}

/// Runs a command on this terminal to its end; Ctrl-C is the command's.
Status run_on_terminal(std::vector<std::string> command, const std::string& directory) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  void (*const before)(int) = std::signal(SIGINT, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    if (!directory.empty() && chdir(directory.c_str()) != 0) _exit(127);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, before);
  if (child < 0) return fail(ErrorCode::Execution, fmt::format("no process: {}", std::strerror(errno)));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return fail(ErrorCode::Execution, fmt::format("cannot start {}", command.front()), "install gdb");
  return {};
}

/// Leaves the program to gdb, on this terminal; the schedule is followed all the same.
Status under_gdb(const Replaying& replay, const ReplayRequest& request) {
  testing::CheckOptions options = check_options(replay.test, {request.timeout_seconds, false});
  auto file = testing::RunFile::create(options.run_directory, options.run_bytes, options.plan_bytes);
  if (!file) return fail(file.error());
  testing::CheckPlan plan = replay.plan;
  plan.flags |= format::kPlanTrapAtEnd;
  plan.pairs.clear();
  if (Status written = file->write(plan); !written) return written;
  auto scratch = testing::Scratch::create();
  if (!scratch) return fail(scratch.error());
  scratch->announce(options.environment);
  std::vector<std::string> command = {"gdb", "-q"};
  if (!request.gdb_commands.empty()) command.emplace_back("-batch");
  command.insert(command.end(),
                 {"-ex", "set disable-randomization on", "-ex", "set breakpoint pending on", "-ex",
                  fmt::format("set environment {} {}", format::kRunVariable, file->path())});
  for (const auto& [name, value] : options.environment)
    command.insert(command.end(), {"-ex", fmt::format("set environment {} {}", name, value)});
  command.insert(command.end(),
                 {"-ex", fmt::format("handle SIG{} nostop noprint pass", format::kRunWatchdogSignal)});
  if (!request.gdb_commands.empty()) command.insert(command.end(), {"-x", request.gdb_commands});
  command.emplace_back("--args");
  command.insert(command.end(), options.command.begin(), options.command.end());
  return run_on_terminal(command, replay.test.directory);
}

}  // namespace

Result<ReplayOutcome> run_replay(const ReplayRequest& request) {
  ReplayOutcome outcome;
  auto replay = prepare(request, outcome);
  if (!replay) return fail(replay.error());
  outcome.test = replay->test.name;
  outcome.expected = replay->witness.ending;
  outcome.switches = replay->witness.switches;
  if (request.gdb) {
    if (Status done = under_gdb(*replay, request); !done) return fail(done.error());
    return outcome;
  }
  // A witness that follows the heap was recorded with events.
  const bool watch_heap = (replay->plan.flags & format::kPlanRecordEvents) != 0;
  auto program = TestProgram::create(replay->test, {request.timeout_seconds, watch_heap});
  if (!program) return fail(program.error());
  testing::CheckPlan plan = replay->plan;
  plan.flags |= format::kPlanStrictSchedule;
  plan.pairs.clear();  // what is to be seen, not what is to be done
  const auto& races = replay->plan.pairs;
  if (!races.empty()) outcome.shown = 0;
  const bool cut = outcome.expected.starts_with("stopped at ");
  if (request.trace) plan.flags |= format::kPlanRecordEvents;
  std::optional<Symbols> symbols;
  if (request.trace) symbols.emplace(replay->root, nullptr);
  std::optional<testing::Execution> other;
  for (unsigned i = 0; i < request.times; ++i) {
    auto seen = program->run(plan, request.interrupt);
    if (!seen) return fail(seen.error());
    const testing::Execution& execution = seen->result.execution;
    ++outcome.times;
    ++outcome.endings[seen->ending];
    const bool shown = !races.empty() && shows_race(execution, replay->plan.modules, races.front());
    if (outcome.shown) *outcome.shown += shown;
    const bool same = seen->ending == outcome.expected || (shown && (cut || seen->cut));
    outcome.same += same;
    outcome.output = seen->result.output;
    const std::size_t events = execution.events.size();
    if (request.trace && i == 0 && events > kStepsTraced)
      outcome.notes.push_back(fmt::format("the last {} of {} steps are shown", kStepsTraced, events));
    if (request.trace && i == 0)
      outcome.interleaving = interleaving_of(execution, {}, *symbols, kStepsTraced);
    if (!same) other = std::move(seen->result.execution);
  }
  if (other && replay->same_program) {
    if (!symbols) symbols.emplace(replay->root, nullptr);
    if (const auto read = read_clause({&*other}, {}, &*symbols); !read.empty())
      outcome.notes.push_back("the same program did not end as the witness did" + read);
  }
  return outcome;
}

}  // namespace simrt::pipeline
