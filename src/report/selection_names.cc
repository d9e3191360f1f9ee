// The formats that other programs read: plain names, GoogleTest filters, a CTest expression.
// CTest's --tests-from-file loses the order and ignores unknown names silently, so `ctest` gives `-R` input.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/new_test_names.h"
#include "report/selection_formats.h"

namespace simrt::report {
namespace {

std::vector<const Decision*> listed(const SelectionView& view) {
  std::vector<const Decision*> result;
  for (const Decision& decision : view.selection.decisions)
    if (decision.rank != 0) result.push_back(&decision);
  return result;
}

}  // namespace

std::string regex_escaped(const std::string& name) {
  std::string escaped;
  for (char c : name) {
    if (std::string_view(".*+?()[]{}|^$\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

bool is_gtest_case(const TestCase& test) {
  return test.framework == Framework::GoogleTest && !test.selector.empty() && !test.command.empty();
}

std::string render_names(const SelectionView& view) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  std::set<std::string> listed_later;
  for (const Decision* decision : listed(view)) listed_later.insert(test_name(view, decision->test));
  for (const NewTest& test : view.new_tests)
    for (const std::string& name : names_of(test, view).names)
      if (!listed_later.contains(name)) add(name);
  std::string out;
  for (const std::string& name : names) out += name + "\n";
  for (const Decision* decision : listed(view)) out += test_name(view, decision->test) + "\n";
  return out;
}

std::string render_gtest(const SelectionView& view) {
  std::vector<std::string> programs;  // in order of their best test
  std::map<std::string, std::string> filters;
  const auto add = [&](const std::string& program, const std::string& pattern) {
    auto [filter, fresh] = filters.try_emplace(program);
    if (fresh) programs.push_back(program);
    filter->second += (filter->second.empty() ? "" : ":") + pattern;
  };
  for (const NewTest& test : view.new_tests)
    for (const auto& [program, pattern] : names_of(test, view).filters) add(program, pattern);
  for (const Decision* decision : listed(view))
    if (const auto test = view.tests.find(decision->test);
        test != view.tests.end() && is_gtest_case(test->second))
      add(test->second.command.front(), test->second.selector);
  std::string out;
  for (const std::string& program : programs)
    out += fmt::format("{} --gtest_filter={}\n", program, filters[program]);
  return out;
}

std::string render_ctest(const SelectionView& view) {
  std::string alternatives;
  std::set<std::string> seen;
  const auto add = [&](const std::string& expression) {
    if (seen.insert(expression).second) alternatives += (alternatives.empty() ? "" : "|") + expression;
  };
  for (const NewTest& test : view.new_tests)
    for (const std::string& expression : names_of(test, view).ctest) add(expression);
  for (const Decision* decision : listed(view))
    if (const auto test = view.tests.find(decision->test);
        test != view.tests.end() && !test->second.ctest.empty())
      add(regex_escaped(test->second.ctest));
  return alternatives.empty() ? "^$\n" : fmt::format("^({})$\n", alternatives);
}

}  // namespace simrt::report
