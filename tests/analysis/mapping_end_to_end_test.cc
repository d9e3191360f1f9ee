// From sources to covered blocks with nothing made by hand: the real extractor, real compilers, real runs.
// The program itself says which of its marks ran; every block that holds a mark must be reported accordingly.
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
  void SetUp() override {
    workspace_.write("src/marks.cc", kProgram);
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
      if (ran.count(line) != 0) EXPECT_TRUE(reported) << "line " << line << " ran with " << argument;
      if (ran.count(line) == 0 && GetParam().exact && !is_loose(line)) {
        EXPECT_FALSE(reported) << "line " << line << " did not run with " << argument;
      }
    }
    check_dominators(mapping_, program_, covered_guards(workspace_, module_, argument));
  }
  EXPECT_GE(ever.size(), all.size() - 2) << "the arguments reach nearly every mark";
  const MappingReport& report = mapping_.report;
  EXPECT_GT(report.dominator_checks, 100u);
  if (GetParam().exact) {
    EXPECT_EQ(report.dominator_violations, 0u) << ::testing::PrintToString(report.examples);
    EXPECT_GE(report.mapped * 100, report.blocks * 95) << ::testing::PrintToString(report.examples);
  }
  EXPECT_EQ(report.unmapped, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , EndToEnd,
    ::testing::Values(
        Build{"clang", "clang++-19 -g -O0 -std=c++20 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table",
              true},
        Build{"clang14",
              "clang++-14 -g -O0 -std=c++20 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", true},
        Build{"clang_O2",
              "clang++-19 -g -O2 -std=c++20 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", false},
        Build{"gcc", "g++-12 -g -O0 -std=c++20 -fsanitize-coverage=trace-pc", false}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace simrt::analysis::test
