// What a change means that the analysis cannot see: build definitions, test data, documentation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace simrt::config {

enum class RuleAction : std::uint8_t {
  All,     ///< every test may behave differently
  Ignore,  ///< no test can notice
  Tests    ///< the tests whose names match `tests`
};

struct Rule {
  std::string pattern;  ///< glob over repository-relative paths
  RuleAction action = RuleAction::All;
  std::string tests;   ///< Tests: glob over test names
  std::string reason;  ///< one line for people
  bool operator==(const Rule&) const = default;
};

/// "all", "ignore" or "tests:<glob>". Errors: Usage.
Result<Rule> parse_rule(std::string pattern, std::string_view action);
std::string action_text(const Rule& rule);

/// The built-in table, in order. The last rule matches everything and asks for all tests.
const std::vector<Rule>& default_rules();

/// The rule for a changed file that no unit compiles or includes: the first match of the user's rules, else
/// of the built-in ones. Always finds one.
const Rule& rule_for(const std::vector<Rule>& user_rules, std::string_view path);

}  // namespace simrt::config
