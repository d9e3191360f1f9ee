// A program of 20,000 functions: the analysis stays near linear. The limit is loose on purpose (a loaded
// machine, an unoptimised build); what it catches is a step that became quadratic.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "impact_case.h"

namespace simrt::impact {
namespace {

constexpr int kClasses = 2'000;
constexpr int kMethods = 10;

/// Classes with a lock, a counter and a link to the next class; virtual calls, callbacks and a spawner in
/// between.
std::string large_program() {
  std::ostringstream out;
  for (int c = 0; c < kClasses; ++c) {
    const std::string name = "C" + std::to_string(c);
    out << "var " << name << "::mu std::mutex mutex\nvar " << name << "::n int\nvar " << name
        << "::next Node*\n";
    for (int m = 0; m < kMethods; ++m) {
      out << "fn " << name << "::m" << m << "(a) g x "
          << (m == 9 ? "overrides=Base" + std::to_string(c % 100) + "::m9" : "") << "\n";
      out << "B3 -> B2 T, B1 F\n  text x = a; def x; use a\n  guard g this." << name
          << "::mu\n  text x > 0; use x\n";
      out << "B2 -> B1\n  R this." << name << "::n; W this." << name << "::n; use x\n";
      if (m > 0) out << "  call " << name << "::m" << (m - 1) << "(x) on this; use x\n";
      if (m == 8) out << "  vcall Base" << c % 100 << "::m9(x) on this." << name << "::next; use x\n";
      if (m == 7) out << "  call C" << (c * 7 + 1) % kClasses << "::m3(x) on this." << name << "::next\n";
      if (m == 6) out << "  cb " << name << "::m2(); icall f(x)\n";
      out << "B1 -> B0\n  bind this." << name << "::next := a\n  grel g\n";
    }
  }
  return out.str();
}

TEST(Scale, TwentyThousandFunctions) {
  const std::string text = large_program();
  const Program before = parse_program(text);
  const Program after = parse_program(
      edit(text,
           {{"fn C1000::m4(a) g x \nB3 -> B2 T, B1 F\n  text x = a; def x; use a\n  guard g this.C1000::mu\n",
             "fn C1000::m4(a) g x \nB3 -> B2 T, B1 F\n  text x = a; def x; use a\n"}}));
  ASSERT_EQ(after.functions.size(), static_cast<std::size_t>(kClasses * kMethods));
  const ProgramDiff diff = diff_texts(before, after);
  const auto start = std::chrono::steady_clock::now();
  const Impact impact = analyse_impact(before, after, diff);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_FALSE(impact.pairs.empty());
  EXPECT_LT(seconds.count(), 60.0);
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1000));
  std::cout << "[ measured ] " << seconds.count() * 1000 << " ms, " << impact.accesses.size() << " accesses, "
            << impact.pairs.size() << " pairs\n";
}

}  // namespace
}  // namespace simrt::impact
