// Precedence, messages and the written file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/config.h"
#include "config/options.h"
#include "config/spelling.h"
#include "support/files.h"

namespace simrt::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Load : public ::testing::Test {
 protected:
  void SetUp() override {
    inputs_.root = directory_.path();
    inputs_.directory = directory_.path() + "/sub";
  }
  void file(std::string_view text) { ASSERT_TRUE(write_file_atomically(directory_.file(kConfigFile), text)); }
  Config config() {
    auto loaded = load(inputs_);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? *loaded : Config{};
  }
  Error error() {
    auto loaded = load(inputs_);
    EXPECT_FALSE(loaded);
    return loaded ? Error{} : loaded.error();
  }

  TemporaryDirectory directory_ = TemporaryDirectory::create("simrt-config").value();
  Inputs inputs_;
};

TEST_F(Load, DefaultsWithoutAFile) {
  const Config loaded = config();
  EXPECT_EQ(loaded.file, "");
  EXPECT_EQ(loaded.history_database, directory_.file(".simrt/history.db"));
  EXPECT_EQ(loaded.instrumented_directory, directory_.file("build-simrt"));
  EXPECT_EQ(loaded.build_directory, "") << "to be discovered";
  EXPECT_TRUE(loaded.ctest);
  EXPECT_EQ(loaded.timeout_seconds, 300);
  EXPECT_EQ(loaded.technique, "simrt");
  EXPECT_EQ(loaded.order, "cost");
  EXPECT_THAT(loaded.origins, IsEmpty());
}

TEST_F(Load, FileThenEnvironmentThenFlags) {
  file("[tests]\njobs = 2\ntimeout_seconds = 10\n[select]\norder = \"pairs\"\nseed = 7\n");
  EXPECT_EQ(config().jobs, 2u);
  inputs_.environment = {
      {"SIMRT_JOBS", "3"}, {"SIMRT_TIMEOUT", "2m"}, {"SIMRT_PLAN", "x"}, {"SIMRT_SEED", ""}};
  inputs_.flags = {{"jobs", "4"}};
  const Config loaded = config();
  EXPECT_EQ(loaded.jobs, 4u);
  EXPECT_EQ(loaded.timeout_seconds, 120);
  EXPECT_EQ(loaded.order, "pairs");
  EXPECT_EQ(loaded.seed, 7u) << "an empty variable is not set";
  EXPECT_EQ(loaded.origins.at("tests.jobs").where, "--jobs");
  EXPECT_EQ(loaded.origins.at("tests.timeout_seconds").where, "SIMRT_TIMEOUT");
  EXPECT_EQ(loaded.origins.at("select.order").where, ".simrt.toml:5");
  EXPECT_EQ(loaded.origins.count("select.rank"), 0u);
}

TEST_F(Load, RelativePathsAreSeenFromWhereTheyWereWritten) {
  file("[history]\ndatabase = \"db/h.db\"\n[build]\ndirectory = \"/abs/build\"\n");
  EXPECT_EQ(config().history_database, directory_.file("db/h.db"));
  EXPECT_EQ(config().build_directory, "/abs/build");
  inputs_.environment = {{"SIMRT_DB", "h.db"}};
  EXPECT_EQ(config().history_database, directory_.file("sub/h.db"));
  inputs_.flags = {{"db", "../h.db"}};
  EXPECT_EQ(config().history_database, directory_.file("h.db"));
}

TEST_F(Load, ListFlagsReplaceThenAdd) {
  file("[tests]\nexclude = [\"Slow*\"]\n");
  EXPECT_THAT(config().exclude_tests, ElementsAre("Slow*"));
  inputs_.flags = {{"exclude-tests", "A*,B*"}, {"exclude-tests", "C*"}};
  EXPECT_THAT(config().exclude_tests, ElementsAre("A*", "B*", "C*"));
}

TEST_F(Load, CommandsAndRules) {
  file(R"([[tests.command]]
name = "smoke"
command = ["./bin/smoke", "--quick"]
timeout_seconds = 2.5
environment = { TZ = "UTC" }

[[tests.command]]
name = "script"
command = ["python3", "run.py"]
directory = "test"

[[rules]]
pattern = "data/**"
action = "tests:Data*"
[[rules]]
pattern = "tools/"
action = "ignore"
reason = "not shipped"
)");
  const Config loaded = config();
  ASSERT_EQ(loaded.commands.size(), 2u);
  EXPECT_THAT(loaded.commands[0].command, ElementsAre(directory_.file("build-simrt/bin/smoke"), "--quick"));
  EXPECT_EQ(loaded.commands[0].directory, directory_.file("build-simrt"));
  EXPECT_EQ(loaded.commands[0].timeout_seconds, 2.5);
  EXPECT_EQ(loaded.commands[0].environment.at("TZ"), "UTC");
  EXPECT_THAT(loaded.commands[1].command, ElementsAre("python3", "run.py")) << "found on the PATH";
  EXPECT_EQ(loaded.commands[1].directory, directory_.file("test"));
  ASSERT_EQ(loaded.rules.size(), 2u);
  EXPECT_EQ(rule_for(loaded.rules, "data/a").tests, "Data*");
  EXPECT_EQ(rule_for(loaded.rules, "tools/x/y").reason, "not shipped");
  EXPECT_THAT(rule_for(loaded.rules, "data/a").reason, HasSubstr("data/**"));
}

TEST_F(Load, NamedFileMustExist) {
  inputs_.file = "other.toml";
  EXPECT_EQ(error().code, ErrorCode::Project);
  ASSERT_TRUE(make_directories(inputs_.directory));
  ASSERT_TRUE(write_file_atomically(directory_.file("sub/other.toml"), "[tests]\njobs = 9\n"));
  EXPECT_EQ(config().jobs, 9u);
}

struct BadFile {
  const char* name;
  const char* text;
  const char* message;
  const char* hint;
};

class BadFiles : public Load, public ::testing::WithParamInterface<BadFile> {};

TEST_P(BadFiles, AreRefusedWithLineAndHint) {
  file(GetParam().text);
  const Error failure = error();
  EXPECT_EQ(failure.code, ErrorCode::Usage);
  EXPECT_THAT(failure.message, StartsWith(GetParam().message));
  EXPECT_THAT(failure.hint, HasSubstr(GetParam().hint));
}

INSTANTIATE_TEST_SUITE_P(
    , BadFiles,
    ::testing::Values(
        BadFile{"syntax", "[tests]\njobs = = 2\n", ".simrt.toml:2: ", ""},
        BadFile{"typo", "[tests]\n\ntimout_seconds = 3\n",
                ".simrt.toml:3: unknown key \"tests.timout_seconds\"",
                "did you mean \"tests.timeout_seconds\"?"},
        BadFile{"section", "[test]\njobs = 3\n", ".simrt.toml:1: unknown section \"test\"",
                "did you mean \"tests\"?"},
        BadFile{"wrong_section", "[build]\njobs = 3\n", ".simrt.toml:2: unknown key \"build.jobs\"",
                "\"tests.jobs\""},
        BadFile{"no_section", "jobs = 3\n", ".simrt.toml:1: unknown key \"jobs\"", "\"tests.jobs\""},
        BadFile{"section_as_value", "tests = 3\n",
                ".simrt.toml:1: tests: expected a section, found a whole number", "[tests]"},
        BadFile{"text_for_count", "[tests]\njobs = \"four\"\n",
                ".simrt.toml:2: tests.jobs: expected a whole number that is not negative, found a text", ""},
        BadFile{"negative", "[tests]\njobs = -1\n", ".simrt.toml:2: tests.jobs: expected a whole number", ""},
        BadFile{"fraction", "[tests]\njobs = 1.5\n", ".simrt.toml:2: tests.jobs: ", ""},
        BadFile{"number_for_flag", "[tests]\nctest = 1\n",
                ".simrt.toml:2: tests.ctest: expected true or false", ""},
        BadFile{"seconds", "[tests]\ntimeout_seconds = \"soon\"\n",
                ".simrt.toml:2: tests.timeout_seconds: ", ""},
        BadFile{"infinite", "[tests]\ntimeout_seconds = inf\n", ".simrt.toml:2: tests.timeout_seconds: ", ""},
        BadFile{"choice", "[select]\norder = \"costs\"\n",
                ".simrt.toml:2: select.order: \"costs\" is none of", "did you mean \"cost\"?"},
        BadFile{"path", "[history]\ndatabase = \"\"\n", ".simrt.toml:2: history.database: an empty path", ""},
        BadFile{"list", "[tests]\nexclude = \"A*\"\n",
                ".simrt.toml:2: tests.exclude: expected a list of texts", ""},
        BadFile{"list_of_numbers", "[tests]\nexclude = [1]\n", ".simrt.toml:2: tests.exclude: ", ""},
        BadFile{"glob", "[tests]\nexclude = [\"A[\"]\n", ".simrt.toml:2: tests.exclude: pattern \"A[\"", ""},
        BadFile{"rules_no_tables", "rules = 1\n", ".simrt.toml:1: rules: expected tables", "[[rules]]"},
        BadFile{"rule_action", "[[rules]]\npattern = \"a\"\naction = \"never\"\n",
                ".simrt.toml:1: [[rules]]: action", "tests:Net*"},
        BadFile{"rule_without_action", "[[rules]]\npattern = \"a\"\n",
                ".simrt.toml:1: [[rules]] has no action", ""},
        BadFile{"rule_typo", "[[rules]]\npatern = \"a\"\naction = \"all\"\n",
                ".simrt.toml:2: unknown key \"patern\"", "did you mean \"pattern\"?"},
        BadFile{"command_as_text", "[[tests.command]]\nname = \"a\"\ncommand = \"./a b\"\n",
                ".simrt.toml:3: command in [[tests.command]]", "sh"},
        BadFile{
            "command_twice",
            "[[tests.command]]\nname = \"a\"\ncommand = [\"a\"]\n[[tests.command]]\nname = \"a\"\ncommand = "
            "[\"b\"]\n",
            ".simrt.toml:4: two [[tests.command]] are named \"a\"", ""},
        BadFile{"command_environment",
                "[[tests.command]]\nname = \"a\"\ncommand = [\"a\"]\nenvironment = [\"A=1\"]\n",
                ".simrt.toml:4: environment in", "TZ"}),
    [](const auto& info) { return info.param.name; });

TEST_F(Load, BadEnvironmentAndFlagsNameThemselves) {
  inputs_.environment = {{"SIMRT_JOBS", "many"}};
  EXPECT_THAT(error().message, StartsWith("SIMRT_JOBS: expected a whole number"));
  inputs_.environment = {{"SIMRT_JOBS", "99999999999999999999"}};
  EXPECT_THAT(error().message, StartsWith("SIMRT_JOBS: "));
  inputs_.environment = {};
  inputs_.flags = {{"rank", "ABC"}};
  EXPECT_THAT(error().message, StartsWith("--rank: \"ABC\" is none of simrt, abc, random"));
  inputs_.flags = {{"job", "1"}};
  EXPECT_THAT(error().message, StartsWith("unknown option --job"));
  EXPECT_THAT(error().hint, HasSubstr("--jobs"));
}

TEST(Options, TableIsConsistent) {
  std::set<std::string_view> names, keys, variables;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_TRUE(variables.insert(option.environment).second) << option.environment;
    EXPECT_THAT(std::string(option.environment), StartsWith("SIMRT_"));
    EXPECT_THAT(std::string(option.help), EndsWith(".")) << option.name;
    EXPECT_EQ(option.type == OptionType::Choice, !option.choices.empty()) << option.name;
    const Value value = get_value(Config{}, option);
    if (option.type == OptionType::Choice) {
      EXPECT_TRUE(check_value(option, value)) << "default of " << option.name;
    }
  }
}

TEST(Options, TextsOfEveryType) {
  auto parse = [](const char* name, const char* text) { return parse_value(*option_by_name(name), text); };
  EXPECT_EQ(std::get<bool>(*parse("ctest", "off")), false);
  EXPECT_EQ(std::get<bool>(*parse("ctest", "1")), true);
  EXPECT_FALSE(parse("ctest", "maybe"));
  EXPECT_EQ(std::get<double>(*parse("timeout", "1.5h")), 5400);
  EXPECT_EQ(std::get<double>(*parse("timeout", "90s")), 90);
  for (const char* bad : {"", "-1", "5d", "nan", "1 m"}) EXPECT_FALSE(parse("timeout", bad)) << bad;
  for (const char* bad : {"", "-1", "1.5", "0x10", "9223372036854775808"})
    EXPECT_FALSE(parse("jobs", bad)) << bad;
}

TEST_F(Load, WrittenFileGivesTheSameConfigurationBack) {
  Config wanted = config();
  wanted.build_directory = directory_.file("out/debug");
  wanted.compile_database = "/else\\where/\"q\"/compile_commands.json";
  wanted.ctest = false;
  wanted.timeout_seconds = 12.5;
  wanted.exclude_tests = {"Slow*", "A\"b"};
  wanted.order = "pairs";
  wanted.commands = {{"smoke",
                      {directory_.file("build-simrt/bin/smoke"), "x y"},
                      directory_.file("build-simrt"),
                      3,
                      {{"TZ", "UTC"}, {"A.B", "1"}}},
                     {"py", {"python3", "t.py"}, directory_.path(), 0, {}}};
  wanted.rules = {*parse_rule("data/**", "tests:Data*"), *parse_rule("x/", "ignore")};
  for (Rule& rule : wanted.rules) rule.reason = "because";
  const std::string text = render_default_toml(wanted);
  file(text);
  Config read = config();
  EXPECT_EQ(read.file, directory_.file(kConfigFile));
  EXPECT_EQ(read.origins.at("build.directory").kind, Origin::Kind::File);
  read.file.clear();
  read.origins.clear();
  EXPECT_EQ(read, wanted) << text;
  EXPECT_THAT(text, HasSubstr("directory = \"out/debug\"")) << "paths below the root are portable";
}

TEST_F(Load, WrittenFileOfAFreshProjectIsShortAndSetsNothing) {
  const std::string text = render_default_toml(config());
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 50);
  EXPECT_THAT(text, HasSubstr("# jobs = 0"));
  EXPECT_THAT(text, HasSubstr("[[rules]]"));
  file(text);
  EXPECT_THAT(config().origins, IsEmpty());
}

TEST(NearestSpelling, FindsSlipsAndNothingElse) {
  EXPECT_EQ(nearest_spelling("ordre", {"rank", "order"}), "order");
  EXPECT_EQ(nearest_spelling("jobs", {"job", "jobs"}), "jobs");
  EXPECT_EQ(nearest_spelling("zebra", {"order", "rank"}), "");
  EXPECT_EQ(nearest_spelling("", {"order"}), "");
}

TEST(Documentation, NamesEveryOption) {
  const auto text = read_file(std::string(SIMRT_SOURCE_DIR) + "/docs/configuration.md");
  ASSERT_TRUE(text);
  for (const Option& option : options())
    EXPECT_THAT(*text, HasSubstr("| `" + std::string(option.key) + "` | `" + std::string(option.environment) +
                                 "` |"));
}

}  // namespace
}  // namespace simrt::config
