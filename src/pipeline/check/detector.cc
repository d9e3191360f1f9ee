#include "pipeline/check/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "pipeline/check/tsan_runtime.h"
#include "support/files.h"
#include "support/subprocess.h"
#include "testing/elf_symbols.h"
#include "testing/runner.h"
#include "testing/tsan_report.h"
#include "testing/valgrind_report.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kDetectors = format::kDetectRaces | format::kDetectPotentialRaces |
                                     format::kDetectLockCycles | format::kDetectAtomicity;

class Builtin : public Detector {
 public:
  Result<WatchedRun> watch(const WatchRequest& request) const override {
    testing::CheckPlan plan = request.plan;
    plan.mode = format::RunMode::Detect;
    plan.detectors = kDetectors;
    auto seen = request.program->run(plan, request.interrupt);
    if (!seen) return fail(seen.error());
    return WatchedRun{std::move(seen->result.execution), seen->result.end != testing::CheckEnd::NotUnderPlan,
                      seen->ending, seen->cut};
  }
  bool explores() const override { return true; }
  FindingStatus seen_counts_as(const testing::Execution&) const override { return FindingStatus::Potential; }
  std::string evidence() const override { return {}; }
};

constexpr double kSlowDown = 30;  // of a tool, at worst, against an execution of ours

/// The files that a tool wrote for one test run, one a process, the test's own first.
std::vector<std::string> reports_in(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return a.string().size() != b.string().size() ? a.string().size() < b.string().size() : a < b;
  });
  std::vector<std::string> texts;
  for (const fs::path& file : files)
    if (auto text = read_file(file.string())) texts.push_back(std::move(*text));
  return texts;
}

struct ToolRun {
  std::vector<std::string> reports, notes;
  std::string last_line;  // of what was printed
};

std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return {};
  const std::size_t before = text.find_last_of('\n', end);
  return std::string(text.substr(before == std::string_view::npos ? 0 : before + 1).substr(0, 200));
}

/// Runs a test with a tool's directory for its reports.
template <class Change>
Result<ToolRun> run_under_tool(const WatchRequest& request, Change change) {
  auto directory = TemporaryDirectory::create("simrt-detector");
  if (!directory) return fail(directory.error());
  TestCase test = *request.test;
  testing::RunOptions options;
  change(test, options, directory->file("report"));
  test.timeout_seconds = kSlowDown * request.timeout_seconds;
  const auto result = testing::run_test(test, options, request.interrupt);
  if (!result) return fail(result.error());
  if (result->interrupted) return fail(ErrorCode::Interrupted, "interrupted");
  ToolRun run{reports_in(directory->path()), {}, last_line(result->output)};
  if (result->outcome == Outcome::TimedOut)
    run.notes.push_back(fmt::format("stopped at the time limit of {} s; what was reported by then counts",
                                    test.timeout_seconds));
  if (result->outcome == Outcome::NotRun) run.notes = result->notes;
  return run;
}

/// One execution of several processes: the findings of each keep their own stacks and modules, so the first
/// process with findings speaks; what others found is said.
WatchedRun merged(std::vector<testing::Execution> executions, const std::string& tool,
                  const std::vector<std::string>& notes) {
  WatchedRun run;
  run.took_part = false;
  std::size_t others = 0;
  const auto found = [](const testing::Execution& execution) {
    return execution.races.size() + execution.lock_cycles.size();
  };
  for (testing::Execution& execution : executions) {
    if (execution.state != format::RunState::Finished) continue;
    if (!run.took_part || (found(run.execution) == 0 && found(execution) != 0)) {
      run.execution = std::move(execution);
    } else {
      others += found(execution);
    }
    run.took_part = true;
  }
  if (others != 0)
    run.execution.notes.push_back(
        fmt::format("{} reported {} more in other processes of the test; they are not shown", tool, others));
  auto& said = run.execution.notes;
  said.insert(said.end(), notes.begin(), notes.end());
  return run;
}

/// The very program of the check build with ThreadSanitizer's runtime in place of ours: the dynamic linker
/// finds it under the name of ours. Neither sources nor objects nor links change.
class Tsan : public Detector {
 public:
  Tsan(TemporaryDirectory directory) : directory_(std::move(directory)) {}

  Result<WatchedRun> watch(const WatchRequest& request) const override {
    auto run =
        run_under_tool(request, [&](TestCase& test, testing::RunOptions& options, const std::string& log) {
          const auto value_of = [&](const char* name) {
            if (const auto own = test.environment.find(name); own != test.environment.end())
              return own->second;
            const char* value = std::getenv(name);
            return std::string(value == nullptr ? "" : value);
          };
          const std::string libraries = value_of("LD_LIBRARY_PATH"), user = value_of("TSAN_OPTIONS");
          options.environment["LD_LIBRARY_PATH"] =
              directory_.path() + (libraries.empty() ? std::string() : ":" + libraries);
          options.environment["TSAN_OPTIONS"] =
              (user.empty() ? std::string() : user + ":") + testing::tsan_options(log);
        });
    if (!run) return fail(run.error());
    std::vector<testing::Execution> executions;
    for (const std::string& report : run->reports) {
      executions.push_back(testing::parse_tsan_report(report));
      testing::settle_tsan_report(executions.back());
    }
    return merged(std::move(executions), "ThreadSanitizer", run->notes);
  }

  /// ThreadSanitizer's happens-before knows all of pthreads and the atomics, but no fences: where the program
  /// has some, what it reports may be ordered after all.
  FindingStatus seen_counts_as(const testing::Execution& seen) const override {
    for (const testing::ExecutionModule& module : seen.modules) {
      const auto bytes = read_file(module.name.path);
      if (bytes && testing::elf_imports(*bytes, "__tsan_atomic_thread_fence"))
        return FindingStatus::Potential;
    }
    return FindingStatus::Confirmed;
  }
  std::string evidence() const override {
    return "ThreadSanitizer saw both accesses in one execution, and nothing that it knows orders them";
  }

 private:
  TemporaryDirectory directory_;
};

/// Helgrind or DRD. They see plain machine code: an ordering by std::atomic is none to them, so that what
/// they report is no more than potential until it is witnessed.
class Valgrind : public Detector {
 public:
  Valgrind(std::string program, std::string tool) : program_(std::move(program)), tool_(std::move(tool)) {}

  Result<WatchedRun> watch(const WatchRequest& request) const override {
    auto run = run_under_tool(request, [&](TestCase& test, testing::RunOptions&, const std::string& output) {
      auto command = testing::valgrind_command(program_, tool_, output);
      command.insert(command.end(), test.command.begin(), test.command.end());
      test.command = std::move(command);
    });
    if (!run) return fail(run.error());
    std::vector<testing::Execution> executions;
    for (const std::string& report : run->reports)
      executions.push_back(testing::settle_valgrind_report(testing::parse_valgrind_report(report)));
    const bool began = std::any_of(executions.begin(), executions.end(), [](const auto& execution) {
      return execution.state == format::RunState::Finished;
    });
    if (!began) {
      for (const testing::Execution& execution : executions)
        run->notes.insert(run->notes.end(), execution.notes.begin(), execution.notes.end());
      if (!run->last_line.empty()) run->notes.push_back(fmt::format("it said: {}", run->last_line));
    }
    return merged(std::move(executions), tool_, run->notes);
  }
  bool drives_check_build() const override { return false; }
  FindingStatus seen_counts_as(const testing::Execution&) const override { return FindingStatus::Potential; }
  std::string evidence() const override {
    return tool_ +
           " saw nothing that orders the accesses in an observed execution; it does not know the orders of "
           "atomics (--detector builtin proves or drops it)";
  }

 private:
  std::string program_, tool_;
};

Result<std::unique_ptr<Detector>> make_valgrind(const std::string& tool) {
  const char* path = std::getenv("PATH");
  std::string program = find_program("valgrind", {}, path == nullptr ? "" : path);
  if (program.empty())
    return fail(ErrorCode::Project,
                fmt::format("--detector {} needs valgrind, which is not on the PATH", tool),
                "apt-get install valgrind");
  return std::unique_ptr<Detector>(std::make_unique<Valgrind>(std::move(program), tool));
}

}  // namespace

bool takes_plain_build(const std::string& detector) { return detector == "helgrind" || detector == "drd"; }

Result<std::unique_ptr<Detector>> make_detector(const std::string& name, const std::string& build,
                                                const std::string& root) {
  if (name == "builtin") return std::unique_ptr<Detector>(std::make_unique<Builtin>());
  if (takes_plain_build(name)) return make_valgrind(name);
  if (name != "tsan")
    return fail(ErrorCode::Usage, fmt::format("there is no detector {}", name),
                "builtin, tsan, helgrind, drd");
  auto directory = stand_in_for_runtime(build, root);
  if (!directory) return fail(directory.error());
  return std::unique_ptr<Detector>(std::make_unique<Tsan>(std::move(*directory)));
}

}  // namespace simrt::pipeline
