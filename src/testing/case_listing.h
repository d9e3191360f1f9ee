// Lists the cases of a test program by running it with its framework's listing option.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/test.h"
#include "support/interrupt.h"
#include "support/result.h"
#include "testing/framework.h"

namespace simrt::testing {

struct ListedCase {
  std::string name;
  bool disabled = false;  ///< GoogleTest DISABLED_, doctest skip()
  bool operator==(const ListedCase&) const = default;
};

/// Names that the framework prints, in its order, each once; nothing when the text is no such list. Pure.
/// Hidden Catch2 cases are not asked for, as a plain run does not run them either.
std::optional<std::vector<ListedCase>> parse_gtest_json(std::string_view json);
std::optional<std::vector<ListedCase>> parse_gtest_text(std::string_view output);
std::optional<std::vector<ListedCase>> parse_catch_names(std::string_view output);
std::optional<std::vector<ListedCase>> parse_doctest_xml(std::string_view output);

/// How to run the program: its environment, directory and limits. The command holds chosen filters, too.
struct ListingRequest {
  TestMain main = TestMain::None;
  CaseFilter filter;
  std::string directory;
  std::map<std::string, std::string> environment;
  std::vector<std::string> unset_environment;
  double timeout_seconds = 30;
};

/// ErrorCode::Execution, with one line that says why, when the program crashes, hangs or prints no list.
Result<std::vector<ListedCase>> list_cases(const ListingRequest& request,
                                           const InterruptToken* interrupt = nullptr);

}  // namespace simrt::testing
