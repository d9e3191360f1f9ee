// The formats that other programs read: plain names, GoogleTest filters, a CTest expression.
// CTest's --tests-from-file loses the order and ignores unknown names silently, so `ctest` gives `-R` input.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/selection_formats.h"

namespace simrt::report {
namespace {

std::vector<const Decision*> listed(const SelectionView& view) {
  std::vector<const Decision*> result;
  for (const Decision& decision : view.selection.decisions)
    if (decision.rank != 0) result.push_back(&decision);
  return result;
}

std::string regex_escaped(const std::string& name) {
  std::string escaped;
  for (char c : name) {
    if (std::string_view(".*+?()[]{}|^$\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string render_names(const SelectionView& view) {
  std::string out;
  for (const Decision* decision : listed(view)) out += test_name(view, decision->test) + "\n";
  return out;
}

std::string render_gtest(const SelectionView& view) {
  std::vector<std::string> programs;  // in order of their best test
  std::map<std::string, std::string> filters;
  for (const Decision* decision : listed(view)) {
    const auto test = view.tests.find(decision->test);
    if (test == view.tests.end() || test->second.command.empty()) continue;
    const TestCase& found = test->second;
    if (found.framework != Framework::GoogleTest || found.selector.empty()) continue;
    auto [filter, fresh] = filters.try_emplace(found.command.front());
    if (fresh) programs.push_back(found.command.front());
    filter->second += (filter->second.empty() ? "" : ":") + found.selector;
  }
  std::string out;
  for (const std::string& program : programs)
    out += fmt::format("{} --gtest_filter={}\n", program, filters[program]);
  return out;
}

std::string render_ctest(const SelectionView& view) {
  std::string alternatives;
  std::set<std::string> seen;
  for (const Decision* decision : listed(view)) {
    const auto test = view.tests.find(decision->test);
    if (test == view.tests.end() || test->second.ctest.empty() || !seen.insert(test->second.ctest).second)
      continue;
    alternatives += (alternatives.empty() ? "" : "|") + regex_escaped(test->second.ctest);
  }
  return alternatives.empty() ? "^$\n" : fmt::format("^({})$\n", alternatives);
}

}  // namespace simrt::report
