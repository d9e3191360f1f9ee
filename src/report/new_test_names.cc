#include "report/new_test_names.h"

#include <algorithm>
#include <string_view>

#include "report/selection_formats.h"

namespace simrt::report {
namespace {

/// "Suite.Case": what the macro of GoogleTest tells. Its class joins both by '_', so that where either holds
/// one the place of the dot is a guess.
bool is_suite_and_case(const std::string& name) {
  return name.find('.') != std::string::npos && name.find_first_of("/: ") == std::string::npos;
}

std::string each_joint(const std::string& name, std::string_view pattern) {
  std::string result;
  for (char c : name) {
    if (c == '.' || c == '_')
      result += pattern;
    else
      result += c;
  }
  return result;
}

template <class T>
void add(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
}

void add_gtest(const NewTest& test, const TestCase& sibling, NewTestNames& out) {
  if (const std::size_t at = sibling.name.rfind(sibling.selector); at != std::string::npos)
    add(out.names, sibling.name.substr(0, at) + test.name);
  const std::string pattern =
      test.name.find('_') == std::string::npos ? test.name : each_joint(test.name, "?");
  if (!sibling.command.empty())
    add(out.filters, std::pair(sibling.command.front(), pattern + ":*/" + pattern + "/*"));
}

}  // namespace

NewTestNames names_of(const NewTest& test, const SelectionView& view) {
  NewTestNames out;
  const bool gtest = is_suite_and_case(test.name);
  for (TestId id : test.siblings) {
    const auto found = view.tests.find(id);
    if (found == view.tests.end()) continue;
    const TestCase& sibling = found->second;
    const bool whole_program = sibling.selector.empty();
    if (whole_program) add(out.names, sibling.name);
    if (gtest && sibling.framework == Framework::GoogleTest && !whole_program) add_gtest(test, sibling, out);
    if (!sibling.ctest.empty() &&
        (whole_program || sibling.ctest.find(sibling.selector) == std::string::npos))
      add(out.ctest, regex_escaped(sibling.ctest));
  }
  if (gtest) {
    if (out.names.empty()) out.names.push_back(test.name);
    // gtest_discover_tests() may put a prefix in front, and parameters around it.
    add(out.ctest, "(.*[^A-Za-z0-9_])?" + each_joint(test.name, "[._]") + "([^A-Za-z0-9_].*)?");
  }
  return out;
}

std::vector<std::string> left_out_of(const SelectionView& view, Format format) {
  std::vector<std::string> left_out;
  if (format == Format::Text || format == Format::Json) return left_out;
  for (const NewTest& test : view.new_tests) {
    const NewTestNames names = names_of(test, view);
    const bool named = format == Format::Names   ? !names.names.empty()
                       : format == Format::GTest ? !names.filters.empty()
                                                 : !names.ctest.empty();
    if (!named) left_out.push_back(test.name + " (new)");
  }
  for (const Decision& decision : view.selection.decisions) {
    if (decision.rank == 0) continue;
    const auto test = view.tests.find(decision.test);
    const bool known = test != view.tests.end();
    if ((format == Format::GTest && !(known && is_gtest_case(test->second))) ||
        (format == Format::CTest && !(known && !test->second.ctest.empty())))
      left_out.push_back(test_name(view, decision.test));
  }
  return left_out;
}

}  // namespace simrt::report
