// Test frameworks as seen from outside the process: which one a program was built with, how to make it list
// its cases, and how to make it run exactly one. Runs nothing; case_listing.h does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/test.h"

namespace simrt::testing {

/// What a program was built with. Catch2 has two command lines.
enum class TestMain : std::uint8_t { None, GoogleTest, Catch2V2, Catch2V3, Doctest };

Framework framework_of(TestMain main);

/// Looks for the texts that each framework's own `main` carries (its help), in the program and in the shared
/// objects that it loads through its RPATH or `library_path`; nothing is executed. None for scripts, for
/// programs without a framework, and for files that cannot be read. Thread-safe.
TestMain detect_framework(const std::string& program, const std::string& library_path);

/// A command split into the part that stays and the part that chooses cases.
struct CaseFilter {
  std::vector<std::string> base;     ///< program and other arguments
  std::vector<std::string> chosen;   ///< arguments that choose cases; empty: all
  std::optional<std::string> exact;  ///< the case's name when `chosen` names a single one literally
};
CaseFilter split_filter(Framework framework, const std::vector<std::string>& command);

/// Arguments that make the framework run the case of this name. Exact as far as the framework can express it:
/// a GoogleTest name with ':' '*' '?' '-' gets '?' for each; Catch2 compares without regard to case and has
/// no way to quote '*' at either end; doctest treats '*' and '?' as wildcards. Such a selection may run
/// further cases.
std::vector<std::string> select_case(Framework framework, std::string_view name);

/// The command that runs the test: its command, with the case selected when it has a selector.
std::vector<std::string> command_line(const TestCase& test);

}  // namespace simrt::testing
