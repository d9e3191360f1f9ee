#include "config/rules.h"

#include <algorithm>

#include "config/glob.h"

namespace simrt::config {
namespace {

struct BuiltIn {
  std::string_view reason;
  RuleAction action;
  std::vector<std::string_view> patterns;
};

std::vector<Rule> make_default_rules() {
  // The order matters: data of tests may look like documentation.
  const std::vector<BuiltIn> table = {
      {"data of tests",
       RuleAction::All,
       {"**/testdata/**", "**/test_data/**", "**/test-data/**", "**/test/data/**", "**/tests/data/**",
        "**/fixtures/**"}},
      {"build definition",
       RuleAction::All,
       {"CMakeLists.txt",
        "*.cmake",
        "*.cmake.in",
        "CMakePresets.json",
        "CMakeUserPresets.json",
        "meson.build",
        "meson.options",
        "meson_options.txt",
        "*.wrap",
        "Makefile",
        "makefile",
        "GNUmakefile",
        "*.mk",
        "*.am",
        "configure",
        "configure.ac",
        "BUILD",
        "BUILD.bazel",
        "WORKSPACE",
        "MODULE.bazel",
        "*.bzl",
        "conanfile.*",
        "vcpkg.json",
        ".gitmodules"}},
      {"documentation",
       RuleAction::Ignore,
       {"*.md",         "*.rst",       "*.adoc",     "docs/**", "doc/**",  "*.dox",  "Doxyfile",
        "Doxyfile.in",  "CHANGELOG*",  "ChangeLog",  "NEWS",    "README*", "TODO",   "AUTHORS",
        "CONTRIBUTORS", "MAINTAINERS", "CODEOWNERS", "INSTALL", "THANKS",  "HACKING"}},
      {"licence text", RuleAction::Ignore, {"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "PATENTS"}},
      {"settings of git, editors and formatters",
       RuleAction::Ignore,
       {".gitignore", ".gitattributes", ".git-blame-ignore-revs", ".mailmap", ".editorconfig",
        ".clang-format", ".clang-tidy", ".clangd", ".vscode/**", ".idea/**"}},
      {"definition of continuous integration",
       RuleAction::Ignore,
       {"/.github/**", "/.gitlab-ci.yml", "/.gitlab/**", "/.circleci/**", "/.buildkite/**", "/.travis.yml",
        "/.appveyor.yml", "/appveyor.yml", "/.cirrus.yml", "/.drone.yml", "/azure-pipelines.yml",
        "/Jenkinsfile", "/.codecov.yml", "/codecov.yml"}},
      // An own copy or link beside the sources, which nobody told git to ignore.
      {"compile database: its commands are compared unit by unit",
       RuleAction::Ignore,
       {"compile_commands.json"}},
      {"configuration of simrt itself", RuleAction::Ignore, {"/.simrt.toml", "/.simrt/**"}},
      {"image",
       RuleAction::Ignore,
       {"*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.ico", "*.webp", "*.drawio"}},
      {"neither analysed nor known to a rule", RuleAction::All, {"**"}},
  };
  std::vector<Rule> rules;
  for (const BuiltIn& group : table) {
    for (std::string_view pattern : group.patterns) {
      rules.push_back({std::string(pattern), group.action, {}, std::string(group.reason)});
    }
  }
  return rules;
}

}  // namespace

Result<Rule> parse_rule(std::string pattern, std::string_view action) {
  const std::string problem = glob_problem(pattern);
  if (!problem.empty()) return fail(ErrorCode::Usage, "pattern \"" + pattern + "\": " + problem);
  Rule rule{std::move(pattern), RuleAction::All, {}, {}};
  constexpr std::string_view kTests = "tests:";
  if (action == "all") return rule;
  if (action == "ignore") {
    rule.action = RuleAction::Ignore;
    return rule;
  }
  if (action.starts_with(kTests)) {
    rule.action = RuleAction::Tests;
    rule.tests = action.substr(kTests.size());
    const std::string test_problem = glob_problem(rule.tests);
    if (test_problem.empty()) return rule;
    return fail(ErrorCode::Usage, "action \"" + std::string(action) + "\": " + test_problem);
  }
  return fail(ErrorCode::Usage, "action \"" + std::string(action) + "\" is none of all, ignore, tests:<glob>",
              "for example: action = \"tests:Net*\"");
}

std::string action_text(const Rule& rule) {
  switch (rule.action) {
    case RuleAction::All:
      return "all";
    case RuleAction::Ignore:
      return "ignore";
    case RuleAction::Tests:
      break;
  }
  return "tests:" + rule.tests;
}

const std::vector<Rule>& default_rules() {
  static const std::vector<Rule> rules = make_default_rules();
  return rules;
}

const Rule& rule_for(const std::vector<Rule>& user_rules, std::string_view path) {
  auto matches = [path](const Rule& rule) { return glob_match(rule.pattern, path); };
  auto own = std::find_if(user_rules.begin(), user_rules.end(), matches);
  if (own != user_rules.end()) return *own;
  auto built_in = std::find_if(default_rules().begin(), default_rules().end(), matches);
  return built_in != default_rules().end() ? *built_in : default_rules().back();
}

}  // namespace simrt::config
