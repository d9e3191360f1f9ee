// The wrappers as programs: what configure scripts, CMake, ccache and people do with a compiler must all
// work, and the result must record.
#include <gmock/gmock.h>

#include <iterator>
#include <set>
#include <sstream>

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
  EXPECT_FALSE(exists("main.o.simrt.s"));
  EXPECT_THAT(shell("nm main.o").output, Not(HasSubstr("U __sanitizer_cov_trace_pc\n")));  // in line
}

// Code that the hook must not disturb: what lives in registers across blocks, at every level, also in C++'s
// odd corners.
TEST_P(Wrapper, ProgramsComputeTheSame) {
  write("compute.cc", R"(
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
template <class T> T mix(const std::vector<T>& a, int k) {
  T s = 0, t = 1;
  for (std::size_t i = 0; i + 4 <= a.size(); i += 4) {
    if (i % 3 == std::size_t(k)) s += a[i] * t; else if (i % 5 == 1) s -= a[i + 1]; else t += a[i + 2] / 7;
    switch (i % 7) { case 1: s += 2; break; case 2: t -= 1; break; case 4: s -= t; break; default: s += 1; }
  }
  return s + t;
}
struct Base { virtual ~Base() {} virtual int f(int n) const { return n; } };
struct Odd : Base { int f(int n) const override { if (n % 2) throw std::runtime_error(std::to_string(n)); return n / 2; } };
static int guarded(const Base& b, int n) { try { return b.f(n); } catch (const std::exception& e) { return std::stoi(e.what()) + 1; } }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((target("avx2"))) static void scale(double* p, int n) { for (int i = 0; i < n; ++i) p[i] = p[i] > 3 ? p[i] * 1.5 : p[i] + 1; }
int main() {
  std::vector<double> d; std::vector<long> l; std::map<int, std::string> m;
  for (int i = 0; i < 500; ++i) { d.push_back(i * .37); l.push_back(i * 31 % 17); m[i * 7 % 11] += char('a' + i % 26); }
  if (__builtin_cpu_supports("avx2")) scale(d.data(), 400);
  int g = 0;
  for (int i = 0; i < 50; ++i) g += guarded(Odd(), i) + guarded(Base(), i);
  __asm__("# inline assembly that is left alone\n\tnop" : : : "r10", "r11");
  std::printf("%.17g %ld %d %d %zu\n", mix(d, 1), mix(l, 2), g, fib(15), m[3].size());
}
)");
  for (const char* level :
       {"-O0", "-Og", "-O1", "-O2", "-O3 -fPIC", "-Os -fno-pie", "-O2 -ffunction-sections"}) {
    const std::string options = std::string(level) + " ";
    const std::string linking = options + (options.find("-fno-pie") == std::string::npos ? "" : "-no-pie ");
    const Outcome plain = shell(real(linking + "compute.cc -o plain") + " && ./plain");
    const Outcome recorded =
        shell(wrapped(options + "-c compute.cc -o compute.o") + " && " +
              wrapped(linking + "compute.o -o recorded") + " && SIMRT_TRACE='" + path("t") + "' ./recorded");
    EXPECT_EQ(plain.status, 0) << plain.output;
    EXPECT_EQ(recorded.output, plain.output) << level;
    std::filesystem::remove(path("t"));
  }
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
  std::string actual = read("a/main.d");
  // gcc's hook is a header, and the object depends on it.
  const std::string hook = SIMRT_RUNTIME_DIRECTORY "/hooks/inline_gcc.h";
  if (const auto at = actual.find(hook); at != std::string::npos) actual.erase(at, hook.size());
  const auto words = [](const std::string& text) {
    std::istringstream in(text);
    std::multiset<std::string> all{std::istream_iterator<std::string>(in), {}};
    all.erase("\\");  // lines break elsewhere
    return all;
  };
  EXPECT_EQ(words(actual), words(expected));
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
  if (!clang) {
    EXPECT_THAT(shell("nm main.o").output, Not(HasSubstr("__sanitizer_cov_trace_pc")));
  }
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
    expect_success(std::string(wrapper) +
                   " -std=c11 -O2 -Wall -Wextra -pedantic -Werror -c a.c && ! nm a.o | grep -q "
                   "'__sanitizer_cov_trace_pc$' && " +
                   wrapper + " a.o -o a && SIMRT_TRACE=\"$PWD/t\" ./a");
    const auto trace = simrt::testing::read_trace(path("t"));
    ASSERT_TRUE(trace);
    EXPECT_THAT(trace->threads, SizeIs(2));
    std::filesystem::remove(path("t"));
  }
}

}  // namespace
}  // namespace simrt::wrappers
