// See outcome.h. The order of the checks follows cmCTestRunTest::EndTest of CMake.
#include "testing/outcome.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace simrt::testing {
namespace {

using End = ProcessResult::End;

/// CMake's dialect (no {} intervals, a backslash makes the next character plain) as a POSIX extended one.
std::string to_posix(const std::string& pattern) {
  std::string posix;
  bool in_brackets = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (in_brackets) {
      posix += c;
      in_brackets = c != ']';
    } else if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (std::isalnum(static_cast<unsigned char>(next)) == 0) posix += '\\';
      posix += next;
    } else if (c == '[') {
      posix += c;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') posix += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') posix += pattern[++i];
      in_brackets = true;
    } else if (c == '{' || c == '}') {
      posix += '\\';
      posix += c;
    } else {
      posix += c;
    }
  }
  return posix;
}

const std::string* first_match(const std::vector<std::string>& patterns, const std::string& text) {
  for (const std::string& pattern : patterns) {
    if (matches_cmake_pattern(pattern, text)) return &pattern;
  }
  return nullptr;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The program ran, but the selected case does not exist in it any more.
bool ran_no_case(const TestCase& test, const std::string& output) {
  if (test.selector.empty()) return false;
  switch (test.framework) {
    case Framework::GoogleTest:
      return contains(output, "[==========] Running 0 tests from 0 test suites.") ||
             contains(output, "[==========] Running 0 tests from 0 test cases.");
    case Framework::Catch2:
      return contains(output, "No test cases matched") || contains(output, "No tests ran");
    case Framework::Doctest:
      return contains(output, "[doctest] test cases: 0 |") || contains(output, "[doctest] test cases:  0 |");
    default:
      return false;
  }
}

/// The case ran and said that it does not apply here.
bool skipped_itself(const TestCase& test, const ProcessResult& process) {
  constexpr int kCatchAllSkipped = 4;  // Catch2 3.3 and later
  if (test.selector.empty()) return false;
  if (test.framework == Framework::GoogleTest) {
    return process.code == 0 && contains(process.output, "[  SKIPPED ] " + test.selector);
  }
  return test.framework == Framework::Catch2 && process.code == kCatchAllSkipped &&
         contains(process.output, "skipped");
}

void judge_exit(const TestCase& test, const ProcessResult& process, Verdict& verdict) {
  const TestRules& rules = test.rules;
  bool forced_failure = false;
  if (!rules.pass_patterns.empty() && first_match(rules.pass_patterns, process.output) == nullptr) {
    forced_failure = true;
    verdict.notes.emplace_back("the output matches no pattern of PASS_REGULAR_EXPRESSION");
  }
  if (const std::string* pattern = first_match(rules.fail_patterns, process.output)) {
    forced_failure = true;
    verdict.notes.push_back(fmt::format("the output matches \"{}\" of FAIL_REGULAR_EXPRESSION", *pattern));
  }
  const auto is_code = [&](int code) { return code == process.code; };
  if (std::any_of(test.skip_codes.begin(), test.skip_codes.end(), is_code) ||
      first_match(rules.skip_patterns, process.output) != nullptr || skipped_itself(test, process)) {
    verdict.outcome = Outcome::Skipped;
    return;
  }
  if (ran_no_case(test, process.output)) {
    verdict.outcome = Outcome::NotRun;
    verdict.notes.push_back(fmt::format("the program has no case {}", test.selector));
    return;
  }
  const bool success = !forced_failure && (process.code == 0 || !rules.pass_patterns.empty());
  verdict.outcome = success != test.will_fail ? Outcome::Passed : Outcome::Failed;
  if (success && test.will_fail) verdict.notes.emplace_back("it passed, but is expected to fail (WILL_FAIL)");
}

}  // namespace

bool matches_cmake_pattern(const std::string& pattern, const std::string& text) {
  regex_t compiled;
  if (::regcomp(&compiled, to_posix(pattern).c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  std::string subject = text;
  std::replace(subject.begin(), subject.end(), '\0', ' ');  // regexec() would stop there
  const bool matched = ::regexec(&compiled, subject.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&compiled);
  return matched;
}

std::vector<std::string> describe_left_behind(const ProcessResult& process) {
  std::string daemons;
  std::string children;
  std::uint32_t daemon_count = 0;
  for (const LeftBehind& left : process.left_behind) {
    std::string& names = left.detached ? daemons : children;
    names += (names.empty() ? "" : ", ") + left.name;
    daemon_count += left.detached ? 1 : 0;
  }
  // The list is bounded; what is beyond it counts as children.
  const std::uint32_t child_count = process.left_behind_count - daemon_count;
  std::vector<std::string> notes;
  if (daemon_count == 1) notes.push_back(fmt::format("left a daemon behind ({})", daemons));
  if (daemon_count > 1) notes.push_back(fmt::format("left {} daemons behind ({})", daemon_count, daemons));
  if (child_count == 1) notes.push_back(fmt::format("left a child process behind ({})", children));
  if (child_count > 1)
    notes.push_back(fmt::format("left {} child processes behind ({})", child_count, children));
  return notes;
}

Verdict judge(const TestCase& test, const ProcessResult& process) {
  Verdict verdict;
  switch (process.end) {
    case End::NotStarted:
      verdict.notes = process.notes;
      return verdict;
    case End::Interrupted:
      verdict.notes.emplace_back("interrupted");
      return verdict;
    case End::TimedOut:
      verdict.outcome = Outcome::TimedOut;
      verdict.exit_code = 0;
      verdict.notes.push_back(fmt::format("stopped after {:.1f} s", process.seconds));
      break;
    case End::Signalled:
      verdict.outcome = Outcome::Crashed;
      verdict.exit_code = -process.code;
      verdict.notes.push_back(signal_name(process.code));
      break;
    case End::Exited:
      verdict.exit_code = process.code;
      judge_exit(test, process, verdict);
      break;
  }
  for (std::string& note : describe_left_behind(process)) verdict.notes.push_back(std::move(note));
  return verdict;
}

}  // namespace simrt::testing
