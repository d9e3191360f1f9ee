#include "config/rules.h"

#include <gtest/gtest.h>

namespace simrt::config {
namespace {

RuleAction built_in(std::string_view path) { return rule_for({}, path).action; }

TEST(DefaultRules, DocumentationAndTheLikeAreIgnored) {
  for (const char* path : {"README.md", "docs/index.html", "doc/a/b.txt", "src/design.md", "LICENSE",
                           "COPYING.LESSER", ".gitignore", "src/.clang-format", "logo.png", "docs/img/a.svg",
                           ".simrt.toml", "INSTALL", ".github/workflows/build.yml", "compile_commands.json",
                           ".github/CODEOWNERS", ".travis.yml", "appveyor.yml"}) {
    EXPECT_EQ(built_in(path), RuleAction::Ignore) << path;
  }
}

TEST(DefaultRules, BuildDefinitionsAndDataAskForAllTests) {
  for (const char* path :
       {"CMakeLists.txt", "src/CMakeLists.txt", "cmake/find.cmake", "meson.build", "Makefile",
        "src/table.json", "config.ini", "scripts/gen.py", "test/testdata/README.md", "fixtures/a/LICENSE",
        "test/data/logo.png", ".gitmodules", "sub/.simrt.toml", "test/appveyor.yml"}) {
    EXPECT_EQ(built_in(path), RuleAction::All) << path;
    EXPECT_FALSE(rule_for({}, path).reason.empty()) << path;
  }
}

TEST(DefaultRules, LastRuleCatchesEverything) {
  EXPECT_EQ(default_rules().back().pattern, "**");
  EXPECT_EQ(default_rules().back().action, RuleAction::All);
}

TEST(Rules, UserRulesComeFirstAndInOrder) {
  const std::vector<Rule> rules = {*parse_rule("src/net/*.json", "tests:Net*"),
                                   *parse_rule("*.json", "ignore"), *parse_rule("README.md", "all")};
  EXPECT_EQ(rule_for(rules, "src/net/a.json").tests, "Net*");
  EXPECT_EQ(rule_for(rules, "src/a.json").action, RuleAction::Ignore);
  EXPECT_EQ(rule_for(rules, "README.md").action, RuleAction::All);
  EXPECT_EQ(rule_for(rules, "LICENSE").action, RuleAction::Ignore);
}

TEST(Rules, ActionsAreChecked) {
  EXPECT_EQ(action_text(*parse_rule("a", "all")), "all");
  EXPECT_EQ(action_text(*parse_rule("a", "ignore")), "ignore");
  EXPECT_EQ(action_text(*parse_rule("a", "tests:X*")), "tests:X*");
  for (const char* action : {"", "none", "ALL", "tests", "tests:", "tests:[a"}) {
    auto rule = parse_rule("a", action);
    ASSERT_FALSE(rule) << action;
    EXPECT_EQ(rule.error().code, ErrorCode::Usage);
  }
  EXPECT_FALSE(parse_rule("", "all"));
  EXPECT_FALSE(parse_rule("src/[", "all"));
}

}  // namespace
}  // namespace simrt::config
