// The wrappers as programs: what configure scripts, CMake, ccache and people do with a compiler must all
// work, and the result must record.
#include <gmock/gmock.h>

#include "sandbox.h"
#include "testing/trace.h"

namespace simrt::wrappers {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct Pair {
  std::string name, wrapper, real, variable;
};
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

class Wrapper : public Sandbox, public ::testing::WithParamInterface<Pair> {
 protected:
  void SetUp() override {
    if (std::system(("command -v " + GetParam().real + " >/dev/null").c_str()) != 0) {
      GTEST_SKIP() << GetParam().real << " is not installed";
    }
    write("main.cc",
          "#include <thread>\nint g;\nint f(int n) { if (n > 2) g++; return g; }\n"
          "int main() { std::thread t([] { f(3); }); t.join(); return f(1) - 1; }\n");
    write("part.cc", "int part(int n) { return n > 1 ? n : 2; }\n");
    write("bad.cc", "int f() { return undeclared_name; }\n");
    write("warn.cc", "int f() { int unused_variable = 1; return 2; }\n");
  }

  std::string wrapped(const std::string& arguments) const {
    return GetParam().variable + "=" + GetParam().real + " " + GetParam().wrapper + " " + arguments;
  }
  std::string real(const std::string& arguments) const { return GetParam().real + " " + arguments; }

  void expect_records(const std::string& file) const {
    ASSERT_EQ(shell("SIMRT_TRACE='" + path("trace") + "' ./" + file).status, 0);
    const auto trace = simrt::testing::read_trace(path("trace"));
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->complete);
    ASSERT_THAT(trace->threads, SizeIs(2));
    EXPECT_THAT(trace->threads[1].covered.at(0), Not(IsEmpty()));
    EXPECT_NE(trace->threads[0].covered.at(0), trace->threads[1].covered.at(0));
    std::filesystem::remove(path("trace"));
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Wrapper,
                         ::testing::Values(Pair{"clang19", "simrt-clang++", "clang++-19", "SIMRT_CXX"},
                                           Pair{"clang14", "simrt-clang++", "clang++-14", "SIMRT_CXX"},
                                           Pair{"gcc12", "simrt-g++", "g++-12", "SIMRT_CXX"}),
                         [](const auto& info) { return info.param.name; });

TEST_P(Wrapper, AnswersQuestionsLikeTheRealCompiler) {
  for (const char* question : {"--version", "-dumpmachine", "-print-prog-name=ld", "-print-search-dirs",
                               "-dumpversion", "-print-file-name=libc.so", "-E -dM -x c++ /dev/null", "-v"}) {
    const Outcome a = shell(wrapped(question)), b = shell(real(question));
    EXPECT_EQ(a.status, b.status) << question;
    EXPECT_EQ(a.output, b.output) << question;
  }
}

TEST_P(Wrapper, CompileThenLink) {
  expect_success(wrapped("-O1 -c main.cc -o main.o") + " && " + wrapped("main.o -o program -pthread"));
  expect_records("program");
  EXPECT_FALSE(exists("main.o.simrt.bc"));
}

TEST_P(Wrapper, CompileAndLinkInOneStep) {
  expect_success(wrapped("-O2 main.cc part.cc -o program"));
  expect_records("program");
}

TEST_P(Wrapper, WithoutInlining) {
  expect_success("export SIMRT_INLINE=0; " + wrapped("-c main.cc") + " && " + wrapped("main.o -o program"));
  expect_records("program");
}

TEST_P(Wrapper, WithoutACacheDirectory) {
  expect_success("export SIMRT_CACHE_DIR=/proc/self/nowhere/cache; " + wrapped("-c main.cc") + " && " +
                 wrapped("main.o -o program"));
  expect_records("program");
}

TEST_P(Wrapper, DefaultOutputNames) {
  expect_success(wrapped("-c main.cc part.cc") + " && " + wrapped("main.o part.o"));
  expect_records("a.out");
}

TEST_P(Wrapper, ResponseFileAndForcedLanguage) {
  write("main.txt", read("main.cc"));
  write("compile.rsp", "-O1 -x c++ \"main.txt\" -x none -o 'pro gram'");
  expect_success(wrapped("@compile.rsp"));
  expect_success("mv 'pro gram' program");
  expect_records("program");
  expect_success(wrapped("-x c++ -c - -o stdin.o < main.cc") + " && " + wrapped("stdin.o -o program"));
  expect_records("program");
  expect_success("cat main.cc | " + wrapped("-x c++ - -o program"));
  expect_records("program");
}

TEST_P(Wrapper, DependencyFilesAreThoseOfTheRealCompiler) {
  expect_success("mkdir a b && " + wrapped("-MD -c main.cc -o a/main.o") + " && " +
                 real("-MD -c main.cc -o b/main.o"));
  std::string expected = read("b/main.d");
  expected.replace(expected.find("b/main.o"), 8, "a/main.o");
  EXPECT_EQ(read("a/main.d"), expected);
  expect_success(wrapped("-MD -MF deps -MT target -c main.cc -o a/main.o"));
  EXPECT_THAT(read("deps"), StartsWith("target:"));
}

TEST_P(Wrapper, ErrorsAndWarningsAppearOnceWithTheRealStatus) {
  const Outcome bad = shell(wrapped("-c bad.cc"));
  EXPECT_EQ(bad.status, shell(real("-c bad.cc")).status);
  EXPECT_THAT(bad.output, HasSubstr("undeclared_name"));
  const auto count = [](const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count(bad.output, "error:"), 1) << bad.output;
  EXPECT_FALSE(exists("bad.o"));
  const Outcome warn = shell(wrapped("-Wall -c warn.cc"));
  EXPECT_EQ(warn.status, 0);
  EXPECT_EQ(count(warn.output, "warning:"), 1) << warn.output;
  EXPECT_NE(shell(wrapped("-Wall -Werror -c warn.cc")).status, 0);
  EXPECT_EQ(shell(wrapped("-Werror -Wall -Wextra -pedantic -O2 -fPIC -c part.cc")).output, "");
  EXPECT_NE(shell(wrapped("nonexistent.cc")).status, 0);
}

TEST_P(Wrapper, PreprocessedSyntaxOnlyAndAssemblyOutput) {
  EXPECT_EQ(shell(wrapped("-E part.cc")).output, shell(real("-E part.cc")).output);
  expect_success(wrapped("-fsyntax-only part.cc") + " && " + wrapped("-S part.cc -o part.s"));
  EXPECT_THAT(read("part.s"), HasSubstr("__sanitizer_cov_trace_pc"));
  expect_success(wrapped("-c part.s -o part.o"));
}

TEST_P(Wrapper, SharedAndRelocatableAndStaticArchive) {
  write("use.cc", "int part(int);\n" + read("main.cc") + "int unused() { return part(1); }\n");
  expect_success(wrapped("-fPIC -shared part.cc -o libpart.so") + " && " +
                 wrapped("use.cc -L. -lpart -Wl,-rpath,. -o program"));
  ASSERT_EQ(shell("./program").status, 0);
  expect_success(wrapped("-c part.cc") + " && " + wrapped("-c use.cc") + " && " +
                 wrapped("-r -nostdlib part.o use.o -o both.o") + " && " + wrapped("both.o -o program"));
  expect_records("program");
  expect_success("ar rcs libpart.a part.o && " + wrapped("use.o libpart.a -o program"));
  expect_records("program");
}

TEST_P(Wrapper, PrecompiledHeader) {
  write("all.h", "#include <vector>\n#include <thread>\n");
  const bool clang = GetParam().wrapper == "simrt-clang++";
  expect_success(wrapped("-x c++-header all.h -o all.h." + std::string(clang ? "pch" : "gch")));
  expect_success(wrapped(std::string(clang ? "-include-pch all.h.pch" : "-include all.h") + " -c main.cc") +
                 " && " + wrapped("main.o -o program"));
  expect_records("program");
}

TEST_P(Wrapper, StrippingKeepsLineTables) {
  expect_success(wrapped("-s -Wl,--strip-all main.cc -o program"));
  EXPECT_THAT(shell("readelf -S program").output, HasSubstr(".debug_line"));
  expect_success(wrapped("-g0 main.cc -o program"));
  EXPECT_THAT(shell("readelf -S program").output, HasSubstr(".debug_line"));
}

TEST_P(Wrapper, CcacheInFront) {
  if (shell("command -v ccache").status != 0) GTEST_SKIP() << "ccache is not installed";
  const std::string variables =
      "CCACHE_DIR='" + path("ccache") + "' " + GetParam().variable + "=" + GetParam().real + " ";
  for (int i = 0; i < 2; ++i) {
    expect_success(variables + "ccache " + GetParam().wrapper + " -O1 -c main.cc -o main.o");
    expect_success(wrapped("main.o -o program"));
    expect_records("program");
    std::filesystem::remove(path("main.o"));
  }
  // The launcher behind the wrapper.
  expect_success("CCACHE_DIR='" + path("ccache") + "' " + GetParam().variable + "='ccache " +
                 GetParam().real + "' " + GetParam().wrapper + " main.cc -o program");
  expect_records("program");
}

TEST_P(Wrapper, AutotoolsKindOfProbe) {
  write("conftest.c",
        "#ifdef __cplusplus\nextern \"C\"\n#endif\nchar pthread_create();\nint main() { return "
        "pthread_create != 0 ? 0 : 1; }\n");
  expect_success(wrapped("-o conftest -g -O2 conftest.c -lm 5>/dev/null >&5") + " && ./conftest");
}

class Choice : public Sandbox {};

TEST_F(Choice, CompilerComesFromTheEnvironmentOrThePath) {
  EXPECT_THAT(shell("SIMRT_CXX=/nonexistent/c++ simrt-clang++ --version").output,
              HasSubstr("no such program"));
  EXPECT_EQ(shell("SIMRT_CXX=/nonexistent/c++ simrt-clang++ --version").status, 1);
  EXPECT_THAT(shell("SIMRT_CC=simrt-gcc simrt-clang --version").output, HasSubstr("wrapper"));
  EXPECT_THAT(shell("unset SIMRT_CXX; PATH='" SIMRT_WRAPPER_DIRECTORY "' simrt-g++ --version").output,
              HasSubstr("no compiler found"));
  write("bin/clang++-17", "#!/bin/sh\necho fake 17\n");
  write("bin/clang++-15", "#!/bin/sh\necho fake 15\n");
  EXPECT_EQ(shell("chmod +x bin/*; unset SIMRT_CXX; PATH=\"$PWD/bin:" SIMRT_WRAPPER_DIRECTORY
                  "\" simrt-clang++ --version")
                .output,
            "fake 17\n");
}

TEST_F(Choice, MissingRuntimeIsSaid) {
  write("a.c", "int main(void) { return 0; }\n");
  const Outcome outcome = shell("cp \"$(command -v simrt-gcc)\" . && ./simrt-gcc a.c");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("SIMRT_LIB_DIR"));
}

TEST_F(Choice, CCode) {
  write("a.c",
        "#include <threads.h>\nstatic int f(void* p) { return p != 0; }\n"
        "int main(void) { thrd_t t; thrd_create(&t, f, 0); thrd_join(t, 0); return 0; }\n");
  for (const char* wrapper : {"SIMRT_CC=clang-19 simrt-clang", "SIMRT_CC=gcc-12 simrt-gcc"}) {
    expect_success(std::string(wrapper) + " -std=c11 -c a.c && " + wrapper +
                   " a.o -o a && SIMRT_TRACE=\"$PWD/t\" ./a");
    const auto trace = simrt::testing::read_trace(path("t"));
    ASSERT_TRUE(trace);
    EXPECT_THAT(trace->threads, SizeIs(2));
    std::filesystem::remove(path("t"));
  }
}

}  // namespace
}  // namespace simrt::wrappers
