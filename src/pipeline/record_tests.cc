#include "pipeline/record_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "config/glob.h"
#include "history/run_store.h"
#include "pipeline/guard_mapping.h"
#include "pipeline/test_discovery.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/progress.h"
#include "testing/executable_identity.h"
#include "testing/run_all.h"

namespace simrt::pipeline {
namespace {

std::int64_t now_milliseconds() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

bool wanted(const TestCase& test, const RecordRequest& request, testing::Shard shard) {
  const auto matches = [&](const std::string& glob) { return config::name_match(glob, test.name); };
  if (!request.only.empty() && std::none_of(request.only.begin(), request.only.end(), matches)) return false;
  return shard.contains(test.name);
}

void count(RecordSummary& summary, const TestCase& test, const TestRun& run) {
  switch (run.outcome) {
    case Outcome::Passed:
      ++summary.passed;
      break;
    case Outcome::Failed:
      ++summary.failed;
      break;
    case Outcome::Crashed:
      ++summary.crashed;
      break;
    case Outcome::TimedOut:
      ++summary.timed_out;
      break;
    case Outcome::Skipped:
    case Outcome::NotRun:
      ++summary.skipped;
      break;
  }
  if (run.has_coverage) {
    if (run.coverage.threads > 1) ++summary.multi_threaded;
  } else if (run.outcome != Outcome::NotRun && run.outcome != Outcome::Skipped) {
    summary.without_coverage.push_back(test.name);
  }
}

std::string how_it_ended(const TestRun& run) {
  switch (run.outcome) {
    case Outcome::Failed:
      return fmt::format("failed with exit status {}", run.exit_code);
    case Outcome::Crashed:
      return fmt::format("crashed with signal {}", -run.exit_code);
    case Outcome::TimedOut:
      return fmt::format("timed out after {:.1f} s", run.seconds);
    case Outcome::NotRun:
      return run.notes.empty() ? "was not run" : "was not run: " + run.notes.front();
    default:
      return {};
  }
}

class TestRecorder {
 public:
  TestRecorder(const TestRecording& recording, RecordSummary& summary)
      : in_(recording),
        summary_(summary),
        identity_({recording.workspace.root, recording.workspace.config.instrumented_directory}) {}

  /// Takes over what an earlier run of the same executable showed; the rest has to run.
  Result<std::vector<TestCase>> take_over(const std::vector<TestCase>& tests) {
    std::vector<TestCase> rest;
    for (const TestCase& test : tests) {
      const auto executable = identity_.of(test);
      const std::uint64_t identity = executable ? hash_combine(*executable, kMappingVersion) : 0;
      executables_[test.id] = identity;
      if (in_.request.again || !executable) {
        rest.push_back(test);
        continue;
      }
      const auto earlier = history::find_reusable_run(in_.database, test, identity, in_.environment);
      if (!earlier) return fail(earlier.error());
      const bool reusable = *earlier && settled((*earlier)->last);
      if (!reusable) {
        rest.push_back(test);
        continue;
      }
      const auto reused =
          history::reuse_run(in_.database, in_.revision, test, (*earlier)->run, now_milliseconds());
      if (!reused) return fail(reused.error());
      ++summary_.reused;
      count(summary_, test, (*earlier)->last);
    }
    return rest;
  }

  Status run(const std::vector<TestCase>& tests) {
    auto directory = TemporaryDirectory::create("simrt-traces");
    if (!directory) return fail(directory.error());
    Progress progress("tests", tests.size());
    testing::RunAllOptions options;
    options.run.trace_directory = directory->path();
    const config::Config& config = in_.workspace.config;
    options.run.default_timeout_seconds =
        in_.request.timeout_seconds > 0 ? in_.request.timeout_seconds : config.timeout_seconds;
    options.jobs = in_.request.jobs != 0 ? in_.request.jobs : static_cast<unsigned>(config.jobs);
    options.progress = &progress;
    return testing::run_all(
        tests, options,
        [this](const TestCase& test, const Result<testing::RunResult>& result) {
          return store(test, result);
        },
        in_.request.interrupt);
  }

 private:
  /// A result that running again would not change: everything but a failure of the moment.
  static bool settled(const TestRun& run) { return run.outcome == Outcome::Passed && run.has_coverage; }

  Status store(const TestCase& test, const Result<testing::RunResult>& result) {
    if (!result) {
      summary_.warnings.push_back(fmt::format("{}: {}", test.name, result.error().message));
      return {};
    }
    if (result->interrupted) return {};
    TestRun run;
    run.test = test.id;
    run.outcome = result->outcome;
    run.exit_code = result->exit_code;
    run.seconds = result->seconds;
    run.executable = executables_[test.id];
    run.notes = result->notes;
    if (!result->traces.empty()) {
      TracedCoverage traced = in_.traces.read(result->traces);
      run.coverage = std::move(traced.coverage);
      run.has_coverage = traced.usable;
      run.notes.insert(run.notes.end(), traced.notes.begin(), traced.notes.end());
      for (const std::string& file : result->traces) (void)remove_tree(file);
    }
    const auto stored = history::put_run(in_.database, in_.revision, test, run, now_milliseconds());
    if (!stored) return fail(stored.error());
    ++summary_.ran;
    count(summary_, test, run);
    if (const std::string ended = how_it_ended(run); !ended.empty() && !test.disabled)
      summary_.failures.push_back(test.name + ": " + ended);
    return {};
  }

  const TestRecording& in_;
  RecordSummary& summary_;
  testing::ExecutableIdentity identity_;
  std::map<TestId, std::uint64_t> executables_;
};

}  // namespace

Result<testing::Discovery> tests_to_record(const Workspace& workspace, const RecordRequest& request) {
  return discover_build(
      workspace.config, workspace.config.instrumented_directory,
      "build with the toolchain first: cmake -B build-simrt --toolchain \"$(simrt toolchain)\" && "
      "cmake --build build-simrt; "
      "or list commands under [tests] in .simrt.toml",
      request.interrupt);
}

Status record_tests(const TestRecording& recording, std::vector<TestCase> tests, testing::Shard shard,
                    RecordSummary& summary) {
  if (Status noted = history::announce_tests(recording.database, recording.revision, tests); !noted)
    return noted;
  if (recording.whole_suite) {
    const auto gone = history::narrow_suite(recording.database, recording.revision, tests);
    if (!gone) return fail(gone.error());
    summary.gone = *gone;
  }
  std::erase_if(tests, [&](const TestCase& test) { return !wanted(test, recording.request, shard); });
  TestRecorder recorder(recording, summary);
  auto rest = recording.database.transaction([&] { return recorder.take_over(tests); });
  if (!rest) return fail(rest.error());
  summary.tests = tests.size();
  if (rest->empty()) return {};
  const Status done = recorder.run(*rest);
  std::sort(summary.without_coverage.begin(), summary.without_coverage.end());  // tests end in any order
  return done;
}

}  // namespace simrt::pipeline
