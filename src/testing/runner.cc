// See runner.h.
#include "testing/runner.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "simrt/format/trace.h"
#include "support/files.h"
#include "support/subprocess.h"
#include "testing/framework.h"
#include "testing/outcome.h"
#include "testing/scratch.h"
#include "testing/trace_files.h"

namespace simrt::testing {
namespace {

/// Why the test cannot run at all; empty when it can.
std::string obstacle(const TestCase& test, const RunOptions& options) {
  if (test.disabled && !options.run_disabled) return "disabled";
  if (test.command.empty()) return "its program does not exist";
  for (const std::string& file : test.rules.required_files) {
    std::error_code error;
    if (!std::filesystem::exists(absolute_path(file, test.directory), error)) {
      return fmt::format("the required file {} does not exist", file);
    }
  }
  return {};
}

ProcessSpec process_for(const TestCase& test, const RunOptions& options) {
  ProcessSpec spec;
  spec.command = command_line(test);
  spec.directory = test.directory;
  spec.environment = test.environment;
  spec.unset_environment = test.rules.unset_environment;
  for (const auto& [name, value] : options.environment) spec.environment[name] = value;
  if (!options.trace_directory.empty()) {
    const std::string directory =
        absolute_path(options.trace_directory, std::filesystem::current_path().string());
    spec.environment[format::kTraceVariable] = trace_file(directory, test.id);
  } else {
    spec.unset_environment.emplace_back(format::kTraceVariable);
  }
  if (test.framework == Framework::GoogleTest && !test.selector.empty()) {
    // Sharding left over in the caller's environment would drop the one selected case.
    spec.unset_environment.insert(spec.unset_environment.end(), {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"});
  }
  spec.timeout_seconds = test.timeout_seconds > 0 ? test.timeout_seconds : options.default_timeout_seconds;
  spec.grace_seconds = options.grace_seconds;
  spec.output_limit = options.output_limit;
  return spec;
}

}  // namespace

Result<RunResult> run_test(const TestCase& test, const RunOptions& options, const InterruptToken* interrupt) {
  RunResult result;
  result.test = test.id;
  if (std::string why = obstacle(test, options); !why.empty()) {
    result.notes.push_back(std::move(why));
    return result;
  }
  if (!options.trace_directory.empty()) {
    if (Status removed = remove_traces(options.trace_directory, test.id); !removed)
      return fail(removed.error());
  }
  ProcessSpec spec = process_for(test, options);
  // Cases of one program, which the user's own runner starts one behind the other, may use the same files.
  std::optional<Scratch> scratch;
  if (!test.selector.empty()) {
    auto created = Scratch::create();
    if (!created) return fail(created.error());
    scratch.emplace(std::move(*created));
    scratch->announce(spec.environment);
  }
  auto process = run_process(spec, interrupt);
  if (!process) return fail(process.error());
  Verdict verdict = judge(test, *process);
  result.outcome = verdict.outcome;
  result.exit_code = verdict.exit_code;
  result.notes = std::move(verdict.notes);
  result.seconds = process->seconds;
  result.peak_rss_bytes = process->peak_rss_bytes;
  result.output = std::move(process->output);
  result.output_dropped = process->output_dropped;
  result.interrupted = process->end == ProcessResult::End::Interrupted;
  if (!options.trace_directory.empty()) result.traces = find_traces(options.trace_directory, test.id);
  return result;
}

}  // namespace simrt::testing
