// What a report of a selection needs, gathered by the pipeline. Reports are pure: the same view gives the
// same bytes, whatever the terminal, the time or the machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/change.h"
#include "model/impact.h"
#include "model/selection.h"
#include "model/test.h"

namespace simrt::report {

/// A fallback: the selection grew (or a file was left out of the analysis) for this machine-readable reason.
struct Fallback {
  std::string kind;  ///< "parse-errors", "config-rule", "all-includers", "older-base", "no-history", ...
  std::string text;
  std::string file;
};

/// A test that exists only in the changed version; it has no history and always runs.
struct NewTest {
  std::string name;  ///< "Suite.Case" where the framework's macro tells, else the function's name
  std::string file;
  std::uint32_t line = 0;
  std::vector<TestId> siblings;  ///< recorded tests with their own code in the same file, ascending
};

struct SelectionView {
  std::string base, head;      ///< commit ids (head may be "worktree")
  std::string requested_base;  ///< as resolved from --base; differs from base when that was not recorded
  std::string technique, ranking;
  std::uint64_t seed = 0;
  std::size_t changed_files = 0, changed_functions = 0, parsed_units = 0, total_units = 0;
  Impact impact;
  Selection selection;
  std::unordered_map<TestId, TestCase> tests;
  std::unordered_map<FunctionId, std::string> function_names;
  std::unordered_map<VariableId, std::string> variable_names;
  std::vector<NewTest> new_tests;
  std::vector<Fallback> fallbacks;
};

enum class Format : std::uint8_t { Text, Json, Names, GTest, CTest };

/// The whole report, newline-terminated. `names`: a test a line, new ones first, then in order. `gtest`: one
/// `program --gtest_filter=...` line a program, in order of its best test. `ctest`: an anchored regular
/// expression for `ctest -R`. What the last two cannot express: left_out_of().
std::string render_selection(const SelectionView& view, Format format);

/// `simrt why TEST` / `why-not TEST`: every reason, down to the pair, both source lines and the threads.
/// `skip_details` are the lines that explain a skip; empty for a test that runs.
std::string render_why(const SelectionView& view, TestId test, const std::vector<std::string>& skip_details,
                       Format format);

// Shared by the formats.
std::string to_string(ReasonKind kind);
std::string to_string(ImpactRule rule);
std::string to_string(Tier tier);
std::string access_location(const SharedAccess& access);
std::string test_name(const SelectionView& view, TestId test);

}  // namespace simrt::report
