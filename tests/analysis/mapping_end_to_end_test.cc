// From sources to covered blocks with nothing made by hand: the real extractor, real compilers, real runs.
// The program itself says which of its marks ran; every block that holds a mark must be reported accordingly.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "analysis/analysis.h"
#include "mapping_programs.h"

namespace simrt::analysis::test {
namespace {

constexpr std::string_view kProgram = R"(#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static void mark(int line) { std::printf("%d\n", line); }

#define CHECK(condition) \
  if (!(condition)) { \
    std::abort(); \
  }

template <class T>
T larger(T a, T b) {
  if (a > b) {
    mark(__LINE__);
    return a;
  }
  mark(__LINE__);
  return b;
}

struct Guarded {
  explicit Guarded(int start) : value(start > 3 ? start : 0) {
    mark(__LINE__);
    if (start < 0) throw std::runtime_error("negative");
    mark(__LINE__);
  }
  ~Guarded() {
    if (value > 0) {
      mark(__LINE__);
    } else {
      mark(__LINE__);
    }
  }
  int locked(int by) {
    std::lock_guard<std::mutex> hold(mutex);
    if (by == 0) {
      mark(__LINE__);
      return value;
    }
    std::string text = std::to_string(by);
    for (char c : text) {
      if (c == '7') {
        mark(__LINE__);
        continue;
      }
      mark(__LINE__);
      value += c;
    }
    mark(__LINE__);
    return value;
  }
  std::mutex mutex;
  int value;
};

static int choose(int x) {
  switch (x) {
    case 1:
      mark(__LINE__);
      [[fallthrough]];
    case 2:
      mark(__LINE__);
      break;
    case 3: {
      mark(__LINE__);
      return 3;
    }
    default:
      mark(__LINE__);
  }
  int i = 0;
  do {
    mark(__LINE__);
    if (++i > x && x > 0) {
      mark(__LINE__);
      goto out;
    }
  } while (i < 5);
  mark(__LINE__);
out:
  mark(__LINE__);
  return i;
}

static int thrower(int x) {
  try {
    mark(__LINE__);
    Guarded guarded(x - 5);
    mark(__LINE__);  // loose: same block as the constructor, which may throw
    if (x > 100) throw 7;
    mark(__LINE__);
    return guarded.locked(x);
  } catch (const std::runtime_error& error) {
    mark(__LINE__);  // loose: the test for the exception's type stands at the handler
    if (x == 1) {
      mark(__LINE__);
      return -1;
    }
  } catch (int) {
    mark(__LINE__);  // loose: as above
  }
  mark(__LINE__);
  return 0;
}

int main(int argc, char** argv) {
  const int x = argc > 1 ? std::atoi(argv[1]) : 0;
  CHECK(argc < 100);
  mark(__LINE__);
  auto twice = [x](int y) {
    if (y > x) {
      mark(__LINE__);
      return 2 * y;
    }
    mark(__LINE__);
    return y;
  };
  int sum = twice(4) + choose(x) + thrower(x);
  std::unique_ptr<Guarded> owned;
  if (x > 2 || sum == 1000) {
    mark(__LINE__);
    owned = std::make_unique<Guarded>(x);
  }
  std::thread worker([&] {
    mark(__LINE__);
    if (owned) {
      mark(__LINE__);
      owned->locked(x);
    }
  });
  worker.join();
  sum += larger(x, 5) + larger<long>(x, 2);
  while (sum > 10000) {
    mark(__LINE__);
    sum /= 2;
  }
  mark(__LINE__);
}
)";

/// Marks that may be reported although they did not run.
bool is_loose(std::uint32_t line) {
  std::string_view rest = kProgram;
  for (; line > 1; --line) rest.remove_prefix(rest.find('\n') + 1);
  return rest.substr(0, rest.find('\n')).find("// loose") != std::string_view::npos;
}

/// The files of a directory as a revision.
class DirectoryTree : public SourceTree {
 public:
  explicit DirectoryTree(std::filesystem::path root) : root_(std::move(root)) {}

  std::optional<TreeEntry> find(std::string_view path) const override {
    const auto full = root_ / path;
    if (std::filesystem::is_directory(full)) return TreeEntry{TreeEntry::Kind::Directory, "", 0};
    if (!std::filesystem::is_regular_file(full)) return std::nullopt;
    return TreeEntry{TreeEntry::Kind::File, std::to_string(std::filesystem::file_size(full)),
                     std::filesystem::file_size(full)};
  }
  std::vector<std::pair<std::string, TreeEntry>> list(std::string_view directory) const override {
    std::vector<std::pair<std::string, TreeEntry>> entries;
    for (const auto& item : std::filesystem::directory_iterator(root_ / directory)) {
      const std::string name = item.path().filename();
      entries.emplace_back(name, *find(directory.empty() ? name : std::string(directory) + "/" + name));
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return entries;
  }
  std::optional<std::string> read(std::string_view path) const override {
    std::ifstream in(root_ / path, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::vector<std::string> files() const override { return {"src/marks.cc"}; }
  std::string identity() const override { return "worktree"; }

 private:
  std::filesystem::path root_;
};

struct Build {
  const char* name;
  const char* compiler;
  bool exact;  ///< what did not run must not be reported either
};

class EndToEnd : public ::testing::TestWithParam<Build> {
 protected:
  void SetUp() override { build_program(kProgram); }

  void build_program(std::string_view source) {
    workspace_.write("src/marks.cc", source);
    const std::string path = build(workspace_, GetParam().compiler, "src/marks.cc", "program", "-pthread");
    AnalysisOptions options;
    options.repository_root = workspace_.path();
    const Analyzer analyzer(options, std::make_shared<DirectoryTree>(workspace_.path()), {});
    units_ = analyzer.analyse(
        {{"src/marks.cc", workspace_.path(), {"clang++", "-std=c++20", "-c", "src/marks.cc"}}}, 1);
    ASSERT_EQ(units_.size(), 1u);
    ASSERT_EQ(units_[0].errors, 0u) << units_[0].messages.front();
    program_ = unite(units_);
    module_ = read_instrumented_module(path).value();
    mapping_ = map_module(module_, workspace_.path(), program_, units_[0].points).value();
  }

  /// Lines of the marks that the program says it passed. The run itself is repeated by covered_guards().
  std::set<std::uint32_t> marks_run(const std::string& argument) const {
    run(workspace_.path(), "COVERED=/dev/null ./program " + argument + " > marks");
    std::ifstream in(workspace_.path("marks"));
    return {std::istream_iterator<std::uint32_t>(in), {}};
  }

  std::set<BlockId> blocks_covered(const std::string& argument) const {
    const auto covered = covered_guards(workspace_, module_, argument);
    std::set<BlockId> blocks;
    for (std::size_t i = 0; i < covered.size(); ++i) {
      if (covered[i]) blocks.insert(mapping_.guards[i].blocks.begin(), mapping_.guards[i].blocks.end());
    }
    std::vector<BlockId> inherited;
    for (const auto& [block, source] : mapping_.inherited) {
      if (blocks.count(source) != 0) inherited.push_back(block);
    }
    blocks.insert(inherited.begin(), inherited.end());
    return blocks;
  }

  /// Line of a mark -> the blocks that hold its call (one per instantiation of a template).
  std::map<std::uint32_t, std::vector<BlockId>> marks() const {
    std::map<std::uint32_t, std::vector<BlockId>> result;
    for (const FunctionFacts& function : program_.functions) {
      if (function.has(kDependent)) continue;
      for (const Block& block : function.blocks) {
        for (const Element& element : block.elements) {
          for (const Event& event : element.events) {
            const Call* call = std::get_if<Call>(&event.what);
            if (call != nullptr && call->name.starts_with("mark")) {
              result[event.at.line].push_back({function.id, block.ordinal});
            }
          }
        }
      }
    }
    return result;
  }

  Workspace workspace_;
  std::vector<UnitFacts> units_;
  Program program_;
  InstrumentedModule module_;
  ModuleMapping mapping_;
};

TEST_P(EndToEnd, MarksThatRanAreCoveredAndTheOthersAreNot) {
  const auto all = marks();
  ASSERT_EQ(all.size(), 33u) << "marks in the program";
  std::set<std::uint32_t> ever;
  for (const char* argument : {"", "1", "2", "3", "7", "150"}) {
    const auto ran = marks_run(argument);
    ever.insert(ran.begin(), ran.end());
    const auto covered = blocks_covered(argument);
    for (const auto& [line, blocks] : all) {
      const bool reported =
          std::any_of(blocks.begin(), blocks.end(), [&](BlockId block) { return covered.count(block) != 0; });
      if (ran.count(line) != 0) {
        EXPECT_TRUE(reported) << "line " << line << " ran with " << argument;
      }
      if (ran.count(line) == 0 && GetParam().exact && !is_loose(line)) {
        EXPECT_FALSE(reported) << "line " << line << " did not run with " << argument;
      }
    }
    check_dominators(mapping_, program_, covered_guards(workspace_, module_, argument));
  }
  EXPECT_GE(ever.size(), all.size() - 2) << "the arguments reach nearly every mark";
  const MappingReport& report = mapping_.report;
  if (std::string_view(GetParam().compiler).find("-O0") == std::string_view::npos) {
    EXPECT_EQ(report.optimised_functions, report.functions);
  } else {
    EXPECT_EQ(report.optimised_functions, 0u);
    EXPECT_GT(report.dominator_checks, 100u);
  }
  if (GetParam().exact) {
    EXPECT_EQ(report.dominator_violations, 0u) << ::testing::PrintToString(report.violations);
    EXPECT_GE(report.mapped * 100, report.blocks * 95) << ::testing::PrintToString(report.examples);
  }
  EXPECT_EQ(report.unmapped, 0u);
}

/// What stands before and behind a condition.
struct Shape {
  const char* head;
  const char* tail;
};

/// Functions `f0`, `f1`, ... around one condition of three operands, each operand on a line of its own behind
/// the function's first.
class Conditions : public EndToEnd {
 protected:
  static constexpr Shape kShapes[] = {
      {"if (", ") return 1; return 2;"},
      {"if (!(", ")) return 1; return 2;"},
      {"int n = 0; while (", ") { n = 1; break; } return n;"},
      {"int n = 0; for (;", "; ++n) { n = 5; break; } return n;"},
      {"int n = 0; do { if (n++ > 0) break; } while (", "); return n;"},
      {"int r = (", ") ? a : 7; return r;"},
      {"bool r = ", "; return r;"},
      {"return ", ";"},
      {"return called(", ");"},
  };
  /// Of one operand: computed here, by a call, loaded.
  static constexpr const char* kOperands[] = {"%s > 0", "positive(%s)", "given.%s"};

  struct Condition {
    bool or_and;  // a || (b && c), else a && (b || c)
    std::string name;
    std::uint32_t begin[3], end[3];  // columns of the operands, which stand on three lines
  };

  void SetUp() override {
    std::string source =
        "#include <cstdlib>\n"
        "static struct { int a, b, c; } given;\n"
        "static bool positive(int x) { return x > 0; }\n"
        "static int called(bool x) { return x ? 3 : 4; }\n";
    std::string calls;
    for (const bool or_and : {true, false})
      for (const char* operand : kOperands)
        for (const Shape& shape : kShapes) {
          const std::string name = "f" + std::to_string(conditions_.size());
          const auto of = [&](const char* variable) {
            std::string text = operand;
            return text.replace(text.find("%s"), 2, variable);
          };
          source += "__attribute__((noinline)) static int " + name +
                    "(int a, int b, int c) { (void)a; (void)b; (void)c; " + shape.head + "\n  " + of("a") +
                    (or_and ? " ||" : " &&") + "\n    (" + of("b") + (or_and ? " &&" : " ||") + "\n      " +
                    of("c") + ")\n" + shape.tail + " }\n";
          calls += "  sum += " + name + "(given.a, given.b, given.c);\n";
          const auto size = static_cast<std::uint32_t>(of("a").size());
          conditions_.push_back({or_and, name, {3, 6, 7}, {size + 3, size + 6, size + 7}});
        }
    source +=
        "int main(int, char** argv) {\n"
        "  given = {std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])};\n"
        "  int sum = 0;\n" +
        calls + "  return sum == 0;\n}\n";
    build_program(source);
  }

  /// The blocks with a position inside the operand on the `operand`-th line behind the function's first.
  std::vector<BlockId> blocks_of(const FunctionFacts& function, std::uint32_t operand,
                                 const Condition& condition) const {
    std::set<BlockId> result;
    for (const FunctionPoints& points : units_[0].points) {
      if (points.function != function.id) continue;
      for (const BlockPoints& block : points.blocks)
        for (SourcePoint point : block.points)
          if (point.line == function.begin_line + 1 + operand && point.column > condition.begin[operand] &&
              point.column < condition.end[operand])
            result.insert({function.id, block.ordinal});
    }
    return {result.begin(), result.end()};
  }

  std::vector<Condition> conditions_;
};

TEST_P(Conditions, OperandsThatWereEvaluatedAreCovered) {
  for (int bits = 0; bits < 8; ++bits) {
    const bool a = (bits & 1) != 0, b = (bits & 2) != 0, c = (bits & 4) != 0;
    const std::string argument = fmt::format("{:d} {:d} {:d}", a, b, c);
    const auto covered = blocks_covered(argument);
    for (const Condition& condition : conditions_) {
      const auto function = std::find_if(program_.functions.begin(), program_.functions.end(),
                                         [&](const FunctionFacts& f) { return f.name == condition.name; });
      ASSERT_NE(function, program_.functions.end());
      const bool second = condition.or_and != a, third = second && condition.or_and == b;
      const bool evaluated[] = {true, second, third};
      for (std::uint32_t operand = 0; operand < 3; ++operand) {
        const auto blocks = blocks_of(*function, operand, condition);
        ASSERT_EQ(blocks.size(), 1u) << condition.name << " operand " << operand;
        const bool reported = covered.count(blocks.front()) != 0;
        const std::string what = fmt::format("{} (line {}) operand {} with {}", condition.name,
                                             function->begin_line, operand, argument);
        if (evaluated[operand]) {
          EXPECT_TRUE(reported) << what << " was evaluated";
        }
        if (!evaluated[operand] && GetParam().exact) {
          EXPECT_FALSE(reported) << what << " was not";
        }
      }
    }
    check_dominators(mapping_, program_, covered_guards(workspace_, module_, argument));
  }
  EXPECT_EQ(mapping_.report.dominator_violations, 0u) << ::testing::PrintToString(mapping_.report.violations);
}

#define CLANG_COVERAGE "-fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table"
#define GCC_COVERAGE "-fsanitize-coverage=trace-pc -fno-optimize-sibling-calls -fno-ipa-icf"
const Build kUnoptimised[] = {{"clang", "clang++-19 -g -O0 -std=c++20 " CLANG_COVERAGE, true},
                              {"clang14", "clang++-14 -g -O0 -std=c++20 " CLANG_COVERAGE, true},
                              {"gcc", "g++-12 -g -O0 -std=c++20 " GCC_COVERAGE, false}};
const Build kOptimised[] = {{"clang_O1", "clang++-19 -g -O1 -std=c++20 " CLANG_COVERAGE, false},
                            {"clang_O2", "clang++-19 -g -O2 -std=c++20 " CLANG_COVERAGE, false},
                            {"clang_O3_dwarf4", "clang++-19 -gdwarf-4 -O3 -std=c++20 " CLANG_COVERAGE, false},
                            {"clang14_O2", "clang++-14 -g -O2 -std=c++20 " CLANG_COVERAGE, false},
                            {"gcc_O1", "g++-12 -g -O1 -std=c++20 " GCC_COVERAGE, false},
                            {"gcc_O2", "g++-12 -g -O2 -std=c++20 " GCC_COVERAGE, false},
                            {"gcc_O3", "g++-12 -g -O3 -std=c++20 " GCC_COVERAGE, false}};
const auto name_of_build = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(, EndToEnd, ::testing::ValuesIn(kUnoptimised), name_of_build);
INSTANTIATE_TEST_SUITE_P(Optimised, EndToEnd, ::testing::ValuesIn(kOptimised), name_of_build);
INSTANTIATE_TEST_SUITE_P(, Conditions, ::testing::ValuesIn(kUnoptimised), name_of_build);
INSTANTIATE_TEST_SUITE_P(Optimised, Conditions, ::testing::ValuesIn(kOptimised), name_of_build);

}  // namespace
}  // namespace simrt::analysis::test
