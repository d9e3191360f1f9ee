// Guards of real compiled programs, mapped to blocks: what ran must be what is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mapping_programs.h"

namespace simrt::analysis::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kClassify = R"(#include <cstdlib>
static int classify(int x) {
  int result = 0;
  if (x > 3 && x < 10) {
    result = x * 2;
  } else {
    result = x - 1;
  }
  while (result > 100)
    result /= 7;
  return result;
}
int main(int argc, char** argv) {
  return argc > 1 ? classify(std::atoi(argv[1])) == -12345 : 0;
}
)";

FunctionBuilder classify(std::string_view source = kClassify, const std::string& file = "src/classify.cc") {
  FunctionBuilder function("classify(int)", file, source);
  function.lines(2, 12)
      .linkage("_ZL8classifyi")
      .block(8, {}, {7})
      .block(7, {"result = 0", "x > 3", "x > 3"}, {6, 4})
      .block(6, {"x < 10", "< 10"}, {5, 4})
      .block(5, {"result = x * 2", "= x * 2", "x * 2", "* 2"}, {3})
      .block(4, {"result = x - 1", "= x - 1", "x - 1", "- 1"}, {3})
      .block(3, {"result > 100", "> 100"}, {2, 1})
      .block(2, {"result /= 7", "/= 7"}, {3})
      .block(1, {"return result", "result;\n}"}, {0})
      .block(0, {}, {});
  return function;
}

struct Mapped {
  Program program;
  std::vector<FunctionPoints> points;
  InstrumentedModule module;
  ModuleMapping mapping;
};

Mapped map_program(const Workspace& workspace, const std::string& path,
                   const std::vector<FunctionBuilder>& functions) {
  Mapped mapped;
  mapped.program = make_program(functions, mapped.points);
  auto module = read_instrumented_module(path);
  EXPECT_TRUE(module) << module.error().message;
  if (!module) return mapped;
  mapped.module = *module;
  auto mapping = map_module(*module, workspace.path(), mapped.program, mapped.points);
  EXPECT_TRUE(mapping) << mapping.error().message;
  if (mapping) mapped.mapping = *mapping;
  return mapped;
}

std::vector<std::uint32_t> blocks_run(const Workspace& workspace, const Mapped& mapped,
                                      const std::string& arguments) {
  return covered_blocks(mapped.mapping, covered_guards(workspace, mapped.module, arguments),
                        function_id("test:classify(int)"));
}

struct Build {
  const char* name;
  const char* compiler;
  const char* link;
};

class EveryBuild : public ::testing::TestWithParam<Build> {};

TEST_P(EveryBuild, ReportsTheBlocksThatRan) {
  Workspace workspace;
  workspace.write("src/classify.cc", kClassify);
  const std::string path =
      build(workspace, GetParam().compiler, "src/classify.cc", "program", GetParam().link);
  const Mapped mapped = map_program(workspace, path, {classify()});

  EXPECT_THAT(blocks_run(workspace, mapped, ""), IsEmpty());
  EXPECT_THAT(blocks_run(workspace, mapped, "5"), ElementsAre(1, 3, 5, 6, 7, 8));
  EXPECT_THAT(blocks_run(workspace, mapped, "1"), ElementsAre(1, 3, 4, 7, 8));
  EXPECT_THAT(blocks_run(workspace, mapped, "20"), ElementsAre(1, 3, 4, 6, 7, 8));
  EXPECT_THAT(blocks_run(workspace, mapped, "1000"), ElementsAre(1, 2, 3, 4, 6, 7, 8));

  const MappingReport& report = mapped.mapping.report;
  EXPECT_EQ(report.functions, 1u);
  EXPECT_EQ(report.blocks, 7u);
  EXPECT_EQ(report.mapped, 7u);
  EXPECT_EQ(report.unmapped, 0u);
  EXPECT_GT(report.foreign_guards, 0u) << "main is not in the facts";
  EXPECT_THAT(mapped.mapping.inherited,
              ElementsAre(std::pair(BlockId{function_id("test:classify(int)"), 0},
                                    BlockId{function_id("test:classify(int)"), 1})));
}

INSTANTIATE_TEST_SUITE_P(
    , EveryBuild,
    ::testing::Values(
        Build{"clang", "clang++-19 -g -O0 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", ""},
        Build{"clang_dwarf4",
              "clang++-19 -gdwarf-4 -O0 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", ""},
        Build{"clang_no_pie",
              "clang++-19 -g -O0 -fno-pie -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table",
              "-no-pie"},
        Build{"clang_lld", "clang++-19 -g -O0 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table",
              "-fuse-ld=lld -Wl,--gc-sections -Wl,-z,pack-relative-relocs"},
        Build{"clang_compressed",
              "clang++-19 -g -gz -O0 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", ""},
        Build{"clang14", "clang++-14 -g -O0 -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", ""},
        Build{"clang_sections",
              "clang++-19 -g -O0 -ffunction-sections -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table",
              "-Wl,--gc-sections"},
        Build{"gcc", "g++-12 -g -O0 -fsanitize-coverage=trace-pc", ""},
        Build{"gcc_dwarf4", "g++-12 -gdwarf-4 -O0 -fsanitize-coverage=trace-pc", ""},
        Build{"gcc_no_plt", "g++-12 -g -O0 -fno-plt -fcf-protection -fsanitize-coverage=trace-pc",
              "-Wl,-z,now"},
        Build{"gcc_no_pie", "g++-12 -g -O0 -fno-pie -fsanitize-coverage=trace-pc", "-no-pie"}),
    [](const auto& info) { return info.param.name; });

TEST(MapModule, PrefixMapsAndRelativeNamesFindTheSameFile) {
  for (const char* flags : {"-ffile-prefix-map=$PWD=.", "-ffile-prefix-map=$PWD=/elsewhere/checkout",
                            "-fdebug-prefix-map=$PWD/src=", "-fdebug-compilation-dir=. "}) {
    Workspace workspace;
    workspace.write("src/classify.cc", kClassify);
    const std::string path = build(workspace, std::string(kClang) + " -O0 " + flags, "src/classify.cc");
    const Mapped mapped = map_program(workspace, path, {classify()});
    EXPECT_THAT(blocks_run(workspace, mapped, "5"), ElementsAre(1, 3, 5, 6, 7, 8)) << flags;
  }
}

TEST(MapModule, SymlinkedRootIsTheSameRepository) {
  Workspace workspace;
  workspace.write("real/src/classify.cc", kClassify);
  std::filesystem::create_directory_symlink(workspace.path("real"), workspace.path("link"));
  const std::string path =
      build(workspace, std::string(kClang) + " -O0", workspace.path("link/src/classify.cc"));
  std::vector<FunctionPoints> points;
  const Program program = make_program({classify()}, points);
  for (const char* root : {"real", "link"}) {
    auto mapping = map_module(read_instrumented_module(path).value(), workspace.path(root), program, points);
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->report.mapped, 7u) << root;
  }
}

TEST(MapModule, InlinedFunctionsKeepTheirBlocks) {
  constexpr std::string_view source = R"(#include <cstdio>
#include <cstdlib>
static void report(int x) {
  if (x > 3)
    std::puts("big");
  else
    std::putchar(x);
  std::fflush(stdout);
}
int main(int argc, char** argv) {
  if (argc > 1) report(std::atoi(argv[1]));
}
)";
  FunctionBuilder report("report(int)", "report.cc", source);
  report.linkage("_ZL6reporti").lines(3, 9);
  report.block(5, {}, {4}).block(4, {"x > 3", "> 3"}, {3, 2}).block(3, {"std::puts", "puts"}, {1});
  report.block(2, {"std::putchar", "putchar"}, {1}).block(1, {"std::fflush", "fflush"}, {0}).block(0, {}, {});
  for (const char* compiler : {kClang, kGcc}) {
    Workspace workspace;
    workspace.write("report.cc", source);
    const std::string path = build(workspace, std::string(compiler) + " -O2", "report.cc");
    const Mapped mapped = map_program(workspace, path, {report});
    EXPECT_EQ(mapped.mapping.report.functions, 1u) << compiler;
    EXPECT_TRUE(mapped.mapping.unknown.empty()) << compiler;
    const auto big =
        covered_blocks(mapped.mapping, covered_guards(workspace, mapped.module, "5"), report.facts.id);
    EXPECT_THAT(big, AllOf(Contains(5u), Contains(3u), Not(Contains(2u)))) << compiler;
    const auto small =
        covered_blocks(mapped.mapping, covered_guards(workspace, mapped.module, "1"), report.facts.id);
    EXPECT_THAT(small, AllOf(Contains(5u), Contains(2u), Not(Contains(3u)))) << compiler;
    const auto none =
        covered_blocks(mapped.mapping, covered_guards(workspace, mapped.module, ""), report.facts.id);
    EXPECT_THAT(none, Not(Contains(3u))) << compiler;
  }
}

TEST(MapModule, AmbiguousPositionsMarkAllCandidates) {
  // As a macro does it: two blocks with the very same positions.
  constexpr std::string_view source = R"(#define PICK(a, b) ((a) ? puts("yes") : puts("no")) + (b)
extern "C" int puts(const char*);
int pick(int a, int b) {
  return PICK(a, b);
}
int main(int argc, char**) { return pick(argc, 0) * 0; }
)";
  Workspace workspace;
  workspace.write("pick.cc", source);
  const std::string path = build(workspace, std::string(kClang) + " -O0", "pick.cc");
  FunctionBuilder pick("pick(int, int)", "pick.cc", source);
  pick.linkage("_Z4pickii")
      .lines(3, 5)
      .block(5, {}, {4})
      .block(4, {"PICK(a, b);"}, {3, 2})
      .block(3, {"PICK(a, b);"}, {1})
      .block(2, {"PICK(a, b);"}, {1})
      .block(1, {"PICK(a, b);", "return"}, {0})
      .block(0, {}, {});
  const Mapped mapped = map_program(workspace, path, {pick});
  EXPECT_GE(mapped.mapping.report.ambiguous_guards, 2u);
  EXPECT_EQ(mapped.mapping.report.mapped, 4u);
  EXPECT_THAT(covered_blocks(mapped.mapping, covered_guards(workspace, mapped.module, ""), pick.facts.id),
              ElementsAre(1, 2, 3, 4, 5));
}

TEST(MapModule, BlockWithoutPositionsOfItsOwnInheritsFromItsDominator) {
  FunctionBuilder function = classify();
  // The compiler reports nothing of block 2: its coverage must come from the loop condition, block 3.
  for (BlockPoints& block : function.points.blocks) {
    if (block.ordinal == 2) block.points = {{999, 1}};
  }
  Workspace workspace;
  workspace.write("src/classify.cc", kClassify);
  const std::string path = build(workspace, std::string(kClang) + " -O0", "src/classify.cc");
  const Mapped mapped = map_program(workspace, path, {function});
  const FunctionId id = function.facts.id;
  EXPECT_THAT(mapped.mapping.inherited, Contains(std::pair(BlockId{id, 2}, BlockId{id, 3})));
  EXPECT_EQ(mapped.mapping.report.blocks, 7u);
  EXPECT_EQ(mapped.mapping.report.mapped, 6u);
  EXPECT_EQ(mapped.mapping.report.inherited, 1u);
  EXPECT_THAT(mapped.mapping.report.examples,
              ElementsAre(HasSubstr("classify(int) block 2 (src/classify.cc:999:1)")));
}

TEST(MapModule, VariantsOfOneFunctionAreToldApartByUnit) {
  constexpr std::string_view header = R"(#pragma once
inline int level() {
#ifdef DEBUG
  return 2;
#else
  return 1;
#endif
}
)";
  Workspace workspace;
  workspace.write("level.h", header);
  workspace.write("a.cc", "#include \"level.h\"\nint main() { return level() * 0; }\n");
  const std::string path = build(workspace, std::string(kClang) + " -O0", "a.cc");
  FunctionBuilder debug("level(), debug", "level.h", header);
  debug.linkage("_Z5levelv")
      .lines(2, 8)
      .block(2, {}, {1})
      .block(1, {"return 2", "return 1"}, {0})
      .block(0, {}, {});
  FunctionBuilder plain("level()", "level.h", header);
  plain.linkage("_Z5levelv").lines(2, 8).block(2, {}, {1}).block(1, {"return 1"}, {0}).block(0, {}, {});

  std::vector<FunctionPoints> points;
  Program program = make_program({debug, plain}, points);
  program.units = {{"a.cc", 0, 0, {}, {debug.facts.id}}, {"b.cc", 0, 0, {}, {plain.facts.id}}};
  program.index();
  auto mapping = map_module(read_instrumented_module(path).value(), workspace.path(), program, points);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->report.functions, 1u);
  std::vector<BlockId> all;
  for (const GuardBlocks& guard : mapping->guards)
    all.insert(all.end(), guard.blocks.begin(), guard.blocks.end());
  EXPECT_THAT(all, Contains(BlockId{debug.facts.id, 1}));
  EXPECT_THAT(all, Not(Contains(BlockId{plain.facts.id, 1})));
}

TEST(MapModule, LambdasAndInitialisersOfGlobalsHaveNoUsefulLinkageName) {
  constexpr std::string_view source = R"(#include <cstdlib>
int seed(int x) { return x; }
int first = seed(1);
int second = seed(2);
int main(int argc, char**) {
  auto one = [](int x) { return x + 1; };
  auto two = [](int x) { if (x > 1) std::abort(); return x + 2; };
  return argc > 5 ? two(first) : one(second) * 0;
}
)";
  for (const char* compiler : {kClang, kGcc}) {
    Workspace workspace;
    workspace.write("lambda.cc", source);
    const std::string path = build(workspace, std::string(compiler) + " -O0", "lambda.cc");
    FunctionBuilder one("main()::lambda#0", "lambda.cc", source);
    one.flags(kLambda)
        .lines(6, 6)
        .block(2, {}, {1})
        .block(1, {"x + 1", "return x + 1"}, {0})
        .block(0, {}, {});
    FunctionBuilder two("main()::lambda#1", "lambda.cc", source);
    two.flags(kLambda).lines(7, 7).block(4, {}, {3}).block(3, {"x > 1"}, {2, 1});
    two.block(2, {"std::abort()"}, {0}).block(1, {"return x + 2", "x + 2"}, {0}).block(0, {}, {});
    FunctionBuilder init_first("first", "lambda.cc", source);
    init_first.flags(kStaticInit).lines(3, 3).block(2, {}, {1}).block(1, {"seed(1)"}, {0}).block(0, {}, {});
    FunctionBuilder init_second("second", "lambda.cc", source);
    init_second.flags(kStaticInit).lines(4, 4).block(2, {}, {1}).block(1, {"seed(2)"}, {0}).block(0, {}, {});
    const Mapped mapped = map_program(workspace, path, {one, two, init_first, init_second});
    const auto covered = covered_guards(workspace, mapped.module, "");
    EXPECT_THAT(covered_blocks(mapped.mapping, covered, one.facts.id), ElementsAre(1, 2)) << compiler;
    EXPECT_THAT(covered_blocks(mapped.mapping, covered, two.facts.id), IsEmpty()) << compiler;
    EXPECT_THAT(covered_blocks(mapped.mapping, covered, init_first.facts.id), ElementsAre(1, 2)) << compiler;
    EXPECT_THAT(covered_blocks(mapped.mapping, covered, init_second.facts.id), ElementsAre(1, 2)) << compiler;
    EXPECT_EQ(mapped.mapping.report.functions, 4u) << compiler;
    EXPECT_EQ(mapped.mapping.report.mapped, 6u) << compiler;
  }
}

TEST(MapModule, GccTableIsWholeEvenWhenOnlyHitsAreKnown) {
  Workspace workspace;
  workspace.write("src/classify.cc", kClassify);
  const std::string path = build(workspace, std::string(kGcc) + " -O0", "src/classify.cc");
  std::vector<FunctionPoints> points;
  const Program program = make_program({classify()}, points);
  const InstrumentedModule whole = read_instrumented_module(path).value();
  ASSERT_TRUE(whole.pc_list_only);
  InstrumentedModule hits{path, {}, {}, true};
  const auto covered = covered_guards(workspace, whole, "5");
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i]) hits.pcs.push_back(whole.pcs[i]);
  }
  std::reverse(hits.pcs.begin(), hits.pcs.end());
  auto mapping = map_module(hits, workspace.path(), program, points);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->guards.size(), hits.pcs.size());
  EXPECT_EQ(mapping->report.mapped, 7u) << "blocks that were not hit have guards all the same";
  EXPECT_THAT(
      covered_blocks(*mapping, std::vector<bool>(hits.pcs.size(), true), function_id("test:classify(int)")),
      ElementsAre(1, 3, 5, 6, 7, 8));
}

TEST(MapModule, SharedObjectWithPreemptibleFunctions) {
  Workspace workspace;
  std::string source(kClassify);
  source.replace(source.find("static "), 7, "");
  source.erase(source.find("int main"));
  workspace.write("src/classify.cc", source);
  const std::string path =
      build(workspace, std::string(kClang) + " -O0 -fPIC", "src/classify.cc", "libc.so", "-shared");
  FunctionBuilder function = classify(source);
  function.facts.linkage_names = {"_Z8classifyi"};
  const Mapped mapped = map_program(workspace, path, {function});
  EXPECT_EQ(mapped.mapping.report.mapped, 7u);
  EXPECT_EQ(mapped.mapping.report.foreign_guards, 0u);
}

TEST(MapModule, SaysWhatIsWrongWithTheFile) {
  Workspace workspace;
  workspace.write("src/classify.cc", kClassify);
  EXPECT_EQ(read_instrumented_module(workspace.path("absent")).error().code, ErrorCode::Analysis);
  EXPECT_EQ(read_instrumented_module(workspace.path("src/classify.cc")).error().code, ErrorCode::Analysis);

  run(workspace.path(), "clang++-19 src/classify.cc -o plain");
  auto plain = read_instrumented_module(workspace.path("plain"));
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("no coverage instrumentation"));
  EXPECT_THAT(plain.error().hint, HasSubstr("simrt-clang++"));

  const std::string path = build(workspace, std::string(kClang) + " -O0 -g0", "src/classify.cc");
  auto mapping = map_module(read_instrumented_module(path).value(), workspace.path(), {}, {});
  ASSERT_FALSE(mapping);
  EXPECT_THAT(mapping.error().message, HasSubstr("no debug information"));
  EXPECT_THAT(mapping.error().hint, HasSubstr("-g"));
}

TEST(CheckDominators, CountsCoveredBlocksWhoseDominatorIsNot) {
  Workspace workspace;
  workspace.write("src/classify.cc", kClassify);
  const std::string path = build(workspace, std::string(kClang) + " -O0", "src/classify.cc");
  Mapped mapped = map_program(workspace, path, {classify()});
  auto covered = covered_guards(workspace, mapped.module, "1000");
  check_dominators(mapped.mapping, mapped.program, covered);
  EXPECT_EQ(mapped.mapping.report.dominator_checks, 6u);
  EXPECT_EQ(mapped.mapping.report.dominator_violations, 0u);

  // Pretend that the loop condition did not run: its body and the return did.
  for (std::size_t i = 0; i < covered.size(); ++i) {
    for (BlockId block : mapped.mapping.guards[i].blocks) {
      if (block.ordinal == 3) covered[i] = false;
    }
  }
  mapped.mapping.report = {};
  check_dominators(mapped.mapping, mapped.program, covered);
  EXPECT_EQ(mapped.mapping.report.dominator_violations, 2u);
  EXPECT_THAT(mapped.mapping.report.violations, Contains(HasSubstr("covered without its dominator 3")));
}

TEST(Symbolise, NamesFunctionFileAndLine) {
  constexpr std::string_view source = R"(namespace pool {
struct Worker { int start(int x); };
int Worker::start(int x) {
  return x ? x : -1;
}
}
int main() { return pool::Worker().start(0) * 0; }
)";
  Workspace workspace;
  workspace.write("src/pool.cc", source);
  const std::string path = build(workspace, std::string(kClang) + " -O0", "src/pool.cc");
  const InstrumentedModule module = read_instrumented_module(path).value();
  auto sites = symbolise_all(path, module.pcs, workspace.path());
  ASSERT_TRUE(sites);
  std::vector<std::string> texts;
  for (const CodeSite& site : *sites) texts.push_back(site.text());
  EXPECT_THAT(texts, AllOf(Contains("pool::Worker::start@src/pool.cc:3"), Contains("main@src/pool.cc:7")));
  EXPECT_EQ(symbolise(path, module.pcs.front(), workspace.path()), texts.front());
  EXPECT_EQ(symbolise(path, 1, workspace.path()), "?");
  EXPECT_EQ(symbolise(workspace.path("absent"), 1), "?");

  run(workspace.path(), "clang++-19 src/pool.cc -o nodebug");
  auto symbols_only = symbolise_all(workspace.path("nodebug"), {0}, workspace.path());
  ASSERT_TRUE(symbols_only);
  EXPECT_EQ(symbols_only->front().text(), "?");
}

}  // namespace
}  // namespace simrt::analysis::test
