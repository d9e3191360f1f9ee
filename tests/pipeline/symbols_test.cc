// Which code a program counter leads to, and whether it is the project's own: a real compiler's debug
// information.
#include "pipeline/execution/symbols.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "pipeline/check/describe.h"
#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

class ProgramOfParts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "simrt-symbols-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern).string();
    write("main.c", "void own(void) {}\nint main(void) { return 0; }\n");
    write("third_party/part/deep/part.c", "void submodule(void) {}\n");
    write("third_party/part/.git", "gitdir: elsewhere\n");
    write("build/_deps/fetched.c", "void fetched(void) {}\n");
    write("build/CMakeCache.txt", "");
    run({"clang-19", "-g", "-O0", "-no-pie", "main.c", "third_party/part/deep/part.c",
         "build/_deps/fetched.c", "-o", "program"});
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((fs::path(root_) / name).parent_path());
    std::ofstream(fs::path(root_) / name) << text;
  }
  std::string run(std::vector<std::string> command) {
    const auto result = run_process(
        {.command = std::move(command), .directory = root_, .environment = {}, .unset_environment = {}});
    EXPECT_TRUE(result && result->succeeded()) << (result ? result->output : "not run");
    return result ? result->output : std::string();
  }
  /// As a return address: behind the first byte of the function.
  std::uint64_t inside(const std::string& function) {
    std::istringstream symbols(run({"nm", "--defined-only", "program"}));
    std::string address, kind, name;
    while (symbols >> address >> kind >> name && name != function) {
    }
    return std::stoull(address, nullptr, 16) + 1;
  }
  testing::Execution execution_of_program() const {
    testing::Execution execution;
    execution.modules = {{{root_ + "/program", {}}, true, 0, 1, UINT64_MAX}};
    return execution;
  }
  /// The innermost frame of the function's first instructions.
  CodeFrame frame_of(const std::string& function) {
    const auto stack = symbols_for().stack(execution_of_program(), {inside(function)});
    return stack.empty() ? CodeFrame{} : stack.front();
  }
  Symbols& symbols_for() {
    if (!symbols_) symbols_ = std::make_unique<Symbols>(root_, nullptr);
    return *symbols_;
  }

  std::string root_;
  std::unique_ptr<Symbols> symbols_;
};

TEST_F(ProgramOfParts, CodeOfTheProjectHasItsPlaceAndStatement) {
  const CodeFrame frame = frame_of("own");
  EXPECT_TRUE(frame.own());
  EXPECT_EQ(frame.file, "main.c");
  EXPECT_EQ(frame.line, 1U);
  EXPECT_EQ(frame.statement, "voidown(void){}");
}

TEST_F(ProgramOfParts, ASubmoduleAndAFetchedDependencyAreNotTheProjectsOwn) {
  EXPECT_EQ(frame_of("submodule").file, root_ + "/third_party/part/deep/part.c");
  EXPECT_EQ(frame_of("fetched").file, root_ + "/build/_deps/fetched.c");
  EXPECT_FALSE(frame_of("fetched").own());
}

/// One function of the project creates all of its threads.
TEST_F(ProgramOfParts, ThreadsOfOneCreatorHaveRolesOfTheirOwn) {
  testing::Execution execution = execution_of_program();
  execution.threads = {{0, format::kRunNone, {}},
                       {1, 0, {inside("own"), inside("main")}},
                       {2, 0, {inside("own"), inside("fetched")}},
                       {3, 0, {inside("main")}}};
  EXPECT_EQ(symbols_for().role(execution, 1).name, "main/own@main.c:1#0");
  EXPECT_EQ(symbols_for().role(execution, 2).name, "main/own@main.c:1#1");
  EXPECT_EQ(symbols_for().role(execution, 3).name, "main/main@main.c:2#0");
}

/// A hook's column may be that of a macro or an operator.
TEST_F(ProgramOfParts, AVariableIsNamedByTheAccessOfItsLine) {
  write("named.c", "int first;\nif (unlikely(queue->count > limit)) take(e);\n");
  auto program = std::make_shared<Program>();
  FunctionFacts function;
  function.id.value = 1;
  function.file = "named.c";
  Element element;
  for (const auto& [column, name] : {std::pair(21U, "Queue::count"), std::pair(29U, "limit")}) {
    VariableFacts variable;
    variable.id.value = column;
    variable.name = name;
    program->variables.push_back(variable);
    Access access;
    access.place.base = variable.id;
    element.events.push_back({{2, column}, access});
  }
  Block block;
  block.elements = {element};
  function.blocks = {block};
  program->functions.push_back(function);
  program->index();
  Symbols symbols(root_, program);
  const auto name_at = [&](std::uint32_t column) {
    CodeFrame frame;
    frame.file = "named.c";
    frame.line = 2;
    frame.column = column;
    return symbols.variable({}, 0, {frame});
  };
  EXPECT_EQ(name_at(21), "Queue::count");
  EXPECT_EQ(name_at(29), "limit");
  EXPECT_EQ(name_at(28), "limit") << "the word behind the column";
  EXPECT_EQ(name_at(5), "Queue::count") << "not the macro's name";
  EXPECT_EQ(name_at(27), "limit");
}

TEST_F(ProgramOfParts, WhatAnAssignmentWorksOnStandsBeforeIt) {
  write("assign.c",
        "shared = copy;\ntable[key] = s;\nflag |= true;\nif (a <= b) use(c);\n*at = 'x';\n"
        "failed[tid] = true;\ngrid[row][at[0]] += 2;\n"
        "ASSERT(!aio->stop);\nINIT(&list.node);\nPUT32(ptr, 5);\nCHECK(next(0) < limit);\nrun();\n");
  Symbols symbols(root_, nullptr);
  const auto name_at = [&](std::uint32_t line, std::uint32_t column) {
    CodeFrame frame;
    frame.file = "assign.c";
    frame.line = line;
    frame.column = column;
    return symbols.variable({}, 0, {frame});
  };
  EXPECT_EQ(name_at(1, 8), "shared");
  EXPECT_EQ(name_at(1, 10), "copy");
  EXPECT_EQ(name_at(2, 6), "table");
  EXPECT_EQ(name_at(3, 6), "flag");
  EXPECT_EQ(name_at(4, 7), "b") << "a comparison reads both";
  EXPECT_EQ(name_at(5, 5), "at");
  EXPECT_EQ(name_at(6, 13), "failed") << "not its index";
  EXPECT_EQ(name_at(7, 18), "grid");
  EXPECT_EQ(name_at(8, 1), "stop") << "not the macro";
  EXPECT_EQ(name_at(9, 1), "node");
  EXPECT_EQ(name_at(10, 1), "ptr");
  EXPECT_EQ(name_at(11, 1), "limit");
  EXPECT_EQ(name_at(12, 1), "run");
  CodeFrame call;
  call.file = "assign.c";
  call.line = 1;
  call.column = 10;
  EXPECT_EQ(symbols.variable({}, 0, {call}, true), "shared") << "a library wrote it";
}

/// Members that no initialiser names are constructed at the constructor's name: the line's first initialiser
/// is not what was written.
TEST_F(ProgramOfParts, WhatAConstructorDoesByItselfHasNoNameOfAnotherMember) {
  write("made.cc",
        "  Writer() : thread_{run} {}\n  ~Writer() { thread_.join(); }\n  Writer copy(thread_);\n");
  Symbols symbols(root_, nullptr);
  const auto name_at = [&](std::uint32_t line, std::uint32_t column, const std::string& function) {
    CodeFrame frame;
    frame.file = "made.cc";
    frame.line = line;
    frame.column = column;
    frame.function = function;
    return symbols.variable({}, 0, {frame}, true);
  };
  EXPECT_EQ(name_at(1, 3, "log::Writer::Writer"), "memory in log::Writer::Writer");
  EXPECT_EQ(name_at(1, 3, "log::Writer<int, A<b>>::Writer(int)"),
            "memory in log::Writer<int, A<b>>::Writer(int)");
  EXPECT_EQ(name_at(2, 3, "Writer::~Writer"), "memory in Writer::~Writer");
  EXPECT_EQ(name_at(1, 14, "log::Writer::Writer"), "thread_");
  EXPECT_EQ(name_at(3, 10, "main"), "thread_") << "a constructor's call, in another function";
  EXPECT_FALSE(Symbols::names_a_variable("memory in Writer::~Writer"));
  EXPECT_FALSE(Symbols::names_a_variable("Bucket::occupied(unsigned long)::return"));
  EXPECT_TRUE(Symbols::names_a_variable("Bucket::occupied_"));
}

/// An assertion that fails: the C library, which has no frame pointers and no names here, releases memory on
/// its way to abort, and its caller is missing from the stack.
TEST_F(ProgramOfParts, AFailureIsWhereTheProjectsCodeWasNotInAReleaseByTheCLibrary) {
  testing::CheckResult result;
  result.execution = execution_of_program();
  result.execution.stacks = {{}, {inside("main")}};
  const auto event = [](std::uint64_t pc, format::EventKind kind, std::uint32_t callers) {
    format::RunEvent made{};
    made.pc = pc;
    made.kind = static_cast<std::uint8_t>(kind);
    made.callers = callers;
    return made;
  };
  constexpr std::uint64_t kNoFunction = 0x10;
  result.execution.events = {event(inside("own"), format::EventKind::Read, 1),
                             event(kNoFunction, format::EventKind::Free, 1)};
  const Finding failed = describe_failure(result, "abort", symbols_for());
  ASSERT_EQ(failed.sides.size(), 1U);
  EXPECT_EQ(failed.sides[0].kind, StepKind::Read);
  EXPECT_EQ(failed.sides[0].stack.front().function, "own");

  result.execution.events.erase(result.execution.events.begin());
  const Finding only = describe_failure(result, "abort", symbols_for());
  ASSERT_EQ(only.sides.size(), 1U) << "better than nothing";
  EXPECT_EQ(only.sides[0].kind, StepKind::Free);
}

/// Templates: the facts of one place belong to every instantiation.
TEST_F(ProgramOfParts, AVariableOfATemplateIsNamedWithoutTheArgumentsOfOneInstantiation) {
  write("map.h", "  b.occupied(slot) = true;\n");
  auto program = std::make_shared<Program>();
  VariableFacts variable;
  variable.id.value = 1;
  variable.name = "Map<std::shared_ptr<int>, Equal<int>>::insert(int)::slot";
  program->variables.push_back(variable);
  Access access;
  access.place.base = variable.id;
  Element element;
  element.events.push_back({{1, 14}, access});
  Block block;
  block.elements = {element};
  FunctionFacts function;
  function.id.value = 1;
  function.file = "map.h";
  function.blocks = {block};
  program->functions.push_back(function);
  program->index();
  Symbols symbols(root_, program);
  CodeFrame frame;
  frame.file = "map.h";
  frame.line = 1;
  frame.column = 14;
  EXPECT_EQ(symbols.variable({}, 0, {frame}), "Map::insert(int)::slot");
}

}  // namespace
}  // namespace simrt::pipeline
