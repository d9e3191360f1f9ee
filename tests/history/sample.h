// Made-up but complete facts, coverage and tests for the history's tests; deterministic in their seed.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/revision_store.h"
#include "history/run_store.h"
#include "model/facts.h"
#include "model/program.h"
#include "model/test.h"
#include "support/hash.h"

namespace simrt::history {

inline void PrintTo(const Error& error, std::ostream* out) {
  *out << error.message << " (" << error.hint << ")";
}

/// Unwraps a Result or fails the test with its message.
template <class T>
T ok(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(*result);
}
inline void ok(const Status& status) { ASSERT_TRUE(status.has_value()) << status.error().message; }

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "simrt-history-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path file(const std::string& name = "history.db") const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Database create(const std::filesystem::path& file) {
  return ok(Database::open(file, {OpenMode::Create}));
}

inline RevisionId begin(Database& database, const std::string& sha, std::int64_t recorded_at = 1000,
                        const std::string& environment = "env") {
  RevisionInfo info;
  info.sha = sha;
  info.recorded_at = recorded_at;
  info.tool = "1.0";
  return ok(begin_revision(database, info, {environment, "clang 19 -O0"}));
}

/// Random facts that use every member of every type.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool coin() { return below(2) != 0; }
  std::string text(const char* stem) { return stem + std::to_string(below(40)); }
  VariableId variable() { return variable_id(text("Class::field")); }
  SourcePoint at(std::uint32_t line) {
    return {below(20) == 0 ? 0 : static_cast<std::uint32_t>(line + below(50)),
            static_cast<std::uint32_t>(below(100))};
  }
  Place place() {
    return {variable(), static_cast<std::uint8_t>(below(3)), coin() ? "this" : text("p0->next")};
  }
  Value value() { return {place(), coin()}; }

  Event event(std::uint32_t line) {
    Event event;
    event.at = at(line);
    switch (below(5)) {
      case 0:
        event.what = Access{place(), static_cast<AccessMode>(below(2)), static_cast<MemoryOrder>(below(6)),
                            static_cast<std::uint8_t>(below(32))};
        break;
      case 1: {
        Call call{
            function_id(text("callee")), static_cast<CallKind>(below(5)), text("ns::Class::callee"), {}, {}};
        if (coin()) call.receiver = value();
        for (std::uint64_t i = below(3); i > 0; --i) call.arguments.push_back(value());
        event.what = call;
        break;
      }
      case 2:
        event.what = LockOp{static_cast<LockAction>(below(9)),
                            static_cast<LockMode>(below(2)),
                            {place(), place()},
                            place(),
                            place()};
        break;
      case 3:
        event.what = OrderOp{static_cast<OrderKind>(below(18)), static_cast<MemoryOrder>(below(6)), place()};
        break;
      default:
        event.what = Binding{place(), value()};
    }
    return event;
  }

  Block block(std::uint32_t ordinal, std::uint32_t blocks, std::uint32_t line) {
    Block block{ordinal, below(10), {}, {}};
    for (std::uint64_t i = below(4); i > 0; --i) {
      Element element{random_(), {0}, {}, {}, at(line), {}};
      if (coin()) element.defines.push_back(static_cast<std::uint32_t>(below(4)));
      if (coin()) element.uses = {1, 2};
      for (std::uint64_t k = below(4); k > 0; --k) element.events.push_back(event(line));
      block.elements.push_back(std::move(element));
    }
    for (std::uint64_t i = below(3); i > 0; --i)
      block.successors.push_back({static_cast<EdgeKind>(below(7)), coin() ? 0 : random_(),
                                  static_cast<std::uint32_t>(below(blocks))});
    return block;
  }

  FunctionFacts function(const std::string& usr, const std::string& file, std::uint32_t line) {
    FunctionFacts facts;
    facts.id = function_id(usr);
    facts.usr = usr;
    facts.name = "ns::" + usr + "(int)";
    facts.file = file;
    facts.begin_line = line;
    facts.end_line = line + static_cast<std::uint32_t>(below(60));
    facts.flags = static_cast<std::uint32_t>(below(1024));
    if (coin()) facts.pattern = function_id(text("pattern"));
    if (coin()) facts.parent = function_id(text("parent"));
    facts.signature = random_();
    facts.body = random_();
    facts.linkage_names = {"_Z" + usr, "_ZC2" + usr};
    if (coin()) facts.overrides = {function_id("base")};
    for (std::uint64_t i = below(4); i > 0; --i)
      facts.locals.push_back({text("local"), random_(), coin(), coin(), coin()});
    const auto blocks = static_cast<std::uint32_t>(2 + below(12));
    for (std::uint32_t ordinal = 0; ordinal < blocks; ++ordinal)
      facts.blocks.push_back(block(ordinal, blocks, line));
    facts.entry = blocks - 1;
    return facts;
  }

  FunctionPoints points(const FunctionFacts& facts) {
    FunctionPoints points{facts.id, {}};
    std::uint32_t line = facts.begin_line;
    for (const Block& block : facts.blocks) {
      points.blocks.push_back({block.ordinal, {{line, 3}, {line, 9}, {line + 1, 5}}});
      line += 2;
    }
    return points;
  }

  VariableFacts variable_facts(const std::string& name, const std::string& file, std::uint32_t line) {
    return {variable_id(name),
            name,
            text("int"),
            file,
            {line, static_cast<std::uint32_t>(below(80))},
            static_cast<VariableKind>(below(8)),
            static_cast<std::uint16_t>(below(512)),
            below(3) * 0x9E3779B97F4A7C15ULL};
  }

  /// A unit of `count` functions of its own, and those of `header` too.
  UnitFacts unit(const std::string& path, std::size_t count, const UnitFacts* header = nullptr) {
    UnitFacts unit;
    unit.path = path;
    unit.command = hash_bytes("clang++ -c " + path);
    unit.files.push_back({path, random_(), random_()});
    for (std::size_t i = 0; i < count; ++i) {
      const auto line = static_cast<std::uint32_t>(10 + 70 * i);
      unit.functions.push_back(function(path + "#f" + std::to_string(i), path, line));
      unit.points.push_back(points(unit.functions.back()));
      unit.variables.push_back(variable_facts(path + "::v" + std::to_string(i), path, line));
    }
    if (header) {
      unit.files.insert(unit.files.end(), header->files.begin(), header->files.end());
      unit.functions.insert(unit.functions.end(), header->functions.begin(), header->functions.end());
      unit.points.insert(unit.points.end(), header->points.begin(), header->points.end());
      unit.variables.insert(unit.variables.end(), header->variables.begin(), header->variables.end());
    }
    unit.errors = static_cast<std::uint32_t>(below(2));
    if (unit.errors > 0) unit.messages = {"a.cc:1: error: expected ';'", ""};
    return unit;
  }

 private:
  std::mt19937_64 random_;
};

inline TestCase test_case(const std::string& name) {
  TestCase test;
  test.id = test_id(name);
  test.name = name;
  test.ctest = "all";
  test.selector = name;
  test.framework = Framework::GoogleTest;
  test.command = {"bin/db_test", "--gtest_filter=" + name};
  test.directory = "build";
  test.environment = {{"LANG", "C"}, {"EMPTY", ""}};
  test.timeout_seconds = 2.5;
  test.will_fail = true;
  test.skip_codes = {77, -1};
  test.labels = {"slow", "db"};
  test.rules = {{"HOME"}, {"ok$"},   {"bad"},  {"skip"}, {"data.txt"}, {"first"},
                {"up"},   {"needs"}, {"down"}, {"port"}, true,         4};
  return test;
}

inline TestRun test_run(const std::string& name, BlockSet main_blocks, BlockSet worker_blocks,
                        BlockSet several) {
  TestRun run;
  run.test = test_id(name);
  run.outcome = Outcome::Passed;
  run.seconds = 0.25;
  run.executable = 42;
  run.has_coverage = true;
  run.coverage.threads = 3;
  if (!main_blocks.isEmpty()) run.coverage.single.push_back({"main", std::move(main_blocks)});
  if (!worker_blocks.isEmpty())
    run.coverage.single.push_back({"main/worker@pool.cc:12#0", std::move(worker_blocks)});
  run.coverage.several = std::move(several);
  return run;
}

inline BlockSet block_set(const std::vector<BlockNumber>& numbers) {
  return BlockSet(numbers.size(), numbers.data());
}

inline bool same_coverage(const TestCoverage& a, const TestCoverage& b) {
  if (a.threads != b.threads || !(a.several == b.several) || a.single.size() != b.single.size()) return false;
  for (std::size_t i = 0; i < a.single.size(); ++i)
    if (a.single[i].role != b.single[i].role || !(a.single[i].blocks == b.single[i].blocks)) return false;
  return true;
}

inline void expect_same_program(const Program& a, const Program& b) {
  EXPECT_TRUE(a.functions == b.functions);
  EXPECT_TRUE(a.variables == b.variables);
  ASSERT_EQ(a.units.size(), b.units.size());
  for (std::size_t i = 0; i < a.units.size(); ++i) {
    EXPECT_EQ(a.units[i].path, b.units[i].path);
    EXPECT_EQ(a.units[i].command, b.units[i].command);
    EXPECT_EQ(a.units[i].errors, b.units[i].errors);
    EXPECT_TRUE(a.units[i].files == b.units[i].files);
    EXPECT_TRUE(a.units[i].functions == b.units[i].functions);
  }
}

}  // namespace simrt::history
