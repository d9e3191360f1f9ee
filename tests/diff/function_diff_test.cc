// One small graph a kind of change; the expectation is the whole diff.
#include <gtest/gtest.h>

#include "cfg_text.h"
#include "diff/diff.h"

namespace simrt::diff {
namespace {

struct Case {
  const char* name;
  const char* before;
  const char* after;
  const char* diff;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class FunctionDiffTable : public ::testing::TestWithParam<Case> {};

TEST_P(FunctionDiffTable, Diff) {
  EXPECT_EQ(diff_text(parse_cfg("f", GetParam().before), parse_cfg("f", GetParam().after)), GetParam().diff);
}

const Case kCases[] = {
    {"Unchanged", "2: | >1\n 1: a; b | >0\n 0:", "2: | >1\n 1: a; b | >0\n 0:", "unchanged"},
    {"Insert", "2: | >1\n 1: a; b | >0\n 0:", "2: | >1\n 1: a; ++x; b | >0\n 0:",
     "2<2:\n"
     "1!<1: a=, ++x+, b=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"Delete", "2: | >1\n 1: a; x; b | >0\n 0:", "2: | >1\n 1: a; b | >0\n 0:",
     "2<2:\n"
     "1!<1: a=, b=\n"
     "0<0:\n"
     "removed: x@1\n"
     "dangerous: 1\n"},
    {"Alter", "2: | >1\n 1: a; x; b | >0\n 0:", "2: | >1\n 1: a; y; b | >0\n 0:",
     "2<2:\n"
     "1!<1: a=, y~, b=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"Reorder", "2: | >1\n 1: lock; x; unlock | >0\n 0:", "2: | >1\n 1: lock; unlock; x | >0\n 0:",
     "2<2:\n"
     "1!<1: lock=, unlock=, x+\n"
     "0<0:\n"
     "removed: x@1\n"
     "dangerous: 1\n"},
    {"LoopBody", "5: | >4\n 4: i | >3\n 3: c | while T>2 F>1\n 2: w | >3\n 1: r | >0\n 0:",
     "5: | >4\n 4: i | >3\n 3: c | while T>2 F>1\n 2: w; v | >3\n 1: r | >0\n 0:",
     "5<5:\n"
     "4<4: i=\n"
     "3<3: c=\n"
     "2!<2: w=, v+\n"
     "1<1: r=\n"
     "0<0:\n"
     "dangerous: 2\n"},
    {"GuardAdded",
     "2: | >1\n 1: a; b | >0\n 0:", "4: | >3\n 3: c | if T>2 F>1\n 2: return | >0\n 1: a; b | >0\n 0:",
     "4<2:\n"
     "3!<1: c+\n"
     "2<1: return+\n"
     "1<1: a=, b=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"GuardRemoved",
     "4: | >3\n 3: c | if T>2 F>1\n 2: return | >0\n 1: a; b | >0\n 0:", "2: | >1\n 1: a; b | >0\n 0:",
     "2<4:\n"
     "1!<4: a=, b=\n"
     "0<0:\n"
     "removed: return@2 c@3\n"
     "dangerous: 3\n"},
    {"BlockSplit",
     "2: | >1\n 1: a; b; d | >0\n 0:", "4: | >3\n 3: a; c | if T>2 F>1\n 2: x | >1\n 1: b; d | >0\n 0:",
     "4<2:\n"
     "3!<1: a=, c+\n"
     "2<1: x+\n"
     "1<1: b=, d=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"ConditionAltered", "4: | >3\n 3: a; c | if T>2 F>1\n 2: x | >1\n 1: b | >0\n 0:",
     "4: | >3\n 3: a; d | if T>2 F>1\n 2: x | >1\n 1: b | >0\n 0:",
     "4<4:\n"
     "3!<3: a=, d~\n"
     "2<3: x=\n"
     "1<1: b=\n"
     "0<0:\n"
     "dangerous: 3\n"},
    {"NewArm", "3: | >2\n 2: v | if T>1 F>0\n 1: read | >0\n 0:",
     "4: | >3\n 3: v | if T>2 F>1\n 2: read | >0\n 1: fresh | >0\n 0:",
     "4<3:\n"
     "3<2: v=\n"
     "2<1: read=\n"
     "1!<0: fresh+\n"
     "0<0:\n"
     "dangerous: 0\n"},
    {"ArmReplaced", "4: | >3\n 3: v | if T>2 F>1\n 2: return false | >0\n 1: read | >0\n 0:",
     "4: | >3\n 3: v | if T>2 F>1\n 2: return null() | >0\n 1: read | >0\n 0:",
     "4<4:\n"
     "3<3: v=\n"
     "2!<2: return null()~\n"
     "1<1: read=\n"
     "0<0:\n"
     "dangerous: 2\n"},
    {"IfToWhile", "4: | >3\n 3: c | if T>2 F>1\n 2: x | >1\n 1: b | >0\n 0:",
     "4: | >3\n 3: c | while T>2 F>1\n 2: x | >3\n 1: b | >0\n 0:",
     "4<4:\n"
     "3!<3: c~\n"
     "2<3: x~\n"
     "1<1: b=\n"
     "0<0:\n"
     "dangerous: 3\n"},
    {"ArmsSwapped", "5: | >4\n 4: c | if T>3 F>2\n 3: x | >1\n 2: y | >1\n 1: b | >0\n 0:",
     "5: | >4\n 4: c | if T>2 F>3\n 3: x | >1\n 2: y | >1\n 1: b | >0\n 0:",
     "5<5:\n"
     "4<4: c~\n"
     "3!<2: x+\n"
     "2!<4: y=\n"
     "1<1: b=\n"
     "0<0:\n"
     "removed: x@3\n"
     "dangerous: 2 3\n"},
    {"BreakAdded", "6: | >5\n 5: i | >4\n 4: c | while T>3 F>1\n 3: w | >2\n 2: inc | >4\n 1: r | >0\n 0:",
     "6: | >5\n 5: i | >4\n 4: c | while T>3 F>1\n 3: w | break >1\n 2: inc | >4\n 1: r | >0\n 0:",
     "6<6:\n"
     "5<5: i=\n"
     "4<4: c=\n"
     "3!<3: w~\n"
     "2<6: inc+\n"
     "1<1: r=\n"
     "0<0:\n"
     "removed: inc@2\n"
     "dangerous: 3\n"},
    {"CaseAdded", "5: | >4\n 4: s | switch 1>3 default>2\n 3: one | >1\n 2: other | >1\n 1: r | >0\n 0:",
     "6: | >5\n 5: s | switch 1>4 2>3 default>2\n 4: one | >1\n 3: two | >1\n 2: other | >1\n 1: r | >0\n 0:",
     "6<5:\n"
     "5<4: s~\n"
     "4<3: one=\n"
     "3!<2: two+\n"
     "2<2: other=\n"
     "1<1: r=\n"
     "0<0:\n"
     "dangerous: 2\n"},
    {"CaseRemoved",
     "6: | >5\n 5: s | switch 1>4 2>3 default>2\n 4: one | >1\n 3: two | >1\n 2: other | >1\n 1: r | >0\n 0:",
     "5: | >4\n 4: s | switch 1>3 default>2\n 3: one | >1\n 2: other | >1\n 1: r | >0\n 0:",
     "5<6:\n"
     "4<5: s~\n"
     "3<4: one=\n"
     "2<5: other=\n"
     "1<1: r=\n"
     "0<0:\n"
     "removed: two@3\n"
     "dangerous: 3\n"},
    {"CatchBody", "5: | >4\n 4: t | >1\n 3: | try catch.E>2\n 2: h | >1\n 1: r | >0\n 0:",
     "5: | >4\n 4: t | >1\n 3: | try catch.E>2\n 2: h2 | >1\n 1: r | >0\n 0:",
     "5<5:\n"
     "4<4: t=\n"
     "3<3:\n"
     "2!<2: h2~\n"
     "1<1: r=\n"
     "0<0:\n"
     "dangerous: 2\n"},
    {"SecondOfTwoCatches",
     "8: | >7\n 7: t | >6\n 6: u | >1\n 5: | try catch.E>4\n 4: h | >6\n 3: | try catch.E>2\n 2: k | >1\n 1: "
     "r | >0\n 0:",
     "8: | >7\n 7: t | >6\n 6: u | >1\n 5: | try catch.E>4\n 4: h | >6\n 3: | try catch.E>2\n 2: m | >1\n 1: "
     "r | >0\n 0:",
     "8<8:\n"
     "7<7: t=\n"
     "6<6: u=\n"
     "5<5:\n"
     "4<4: h=\n"
     "3<3:\n"
     "2!<2: m~\n"
     "1<1: r=\n"
     "0<0:\n"
     "dangerous: 2\n"},
    {"HandlersReordered",
     "6: | >5\n 5: t | >1\n 4: | try catch.A>3 catch.B>2\n 3: a | >1\n 2: b | >1\n 1: r | >0\n 0:",
     "6: | >5\n 5: t | >1\n 4: | try catch.B>2 catch.A>3\n 3: a | >1\n 2: b | >1\n 1: r | >0\n 0:",
     "6<6:\n"
     "5<5: t=\n"
     "4<4:\n"
     "3<4: a~\n"
     "2<4: b~\n"
     "1<1: r=\n"
     "0<0:\n"
     "dangerous: 2 3\n"},
    {"LocalInserted", "locals x:int\n 2: | >1\n 1: $x = f(); use($x) | >0\n 0:",
     "locals n:int x:int\n 2: | >1\n 1: $n = g(); $x = f(); use($x) | >0\n 0:",
     "2<2:\n"
     "1!<1: $n = g()+, $x = f()=, use($x)=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"LocalRenamed", "locals x:int\n 2: | >1\n 1: $x = f(); use($x) | >0\n 0:",
     "locals y:int\n 2: | >1\n 1: $y = f(); use($y) | >0\n 0:", "unchanged"},
    {"LocalsSwapped", "locals x:int y:int\n 2: | >1\n 1: $x = f(); $y = g(); use($x) | >0\n 0:",
     "locals x:int y:int\n 2: | >1\n 1: $x = f(); $y = g(); use($y) | >0\n 0:",
     "2<2:\n"
     "1!<1: $x = f()=, $y = g()=, use($y)~\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"ParametersSwapped", "params a:int b:int\n 2: | >1\n 1: sub($a, $b) | >0\n 0:",
     "params a:int b:int\n 2: | >1\n 1: sub($b, $a) | >0\n 0:",
     "2<2:\n"
     "1!<1: sub($b, $a)~\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"CaptureSwapped", "locals a:int b:int\n 2: | >1\n 1: use($a) | >0\n 0:",
     "locals a:int b:int\n 2: | >1\n 1: use($b); use($a) | >0\n 0:",
     "2<2:\n"
     "1!<1: use($b)+, use($a)=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"LocalTypeChanged", "locals x:int\n 2: | >1\n 1: $x = f(); g() | >0\n 0:",
     "locals x:long\n 2: | >1\n 1: $x = f(); g() | >0\n 0:",
     "2<2:\n"
     "1!<1: $x = f()~, g()=\n"
     "0<0:\n"
     "dangerous: 1\n"},
    {"LocalMadeStatic", "locals x:int\n 2: | >1\n 1: $x = f(); g() | >0\n 0:",
     "locals x:int! y:int\n 2: | >1\n 1: $x = f(); g(); $y = h() | >0\n 0:",
     "2<2:\n"
     "1!<1: $x = f()~, g()=, $y = h()+\n"
     "0<0:\n"
     "dangerous: 1\n"},
};

INSTANTIATE_TEST_SUITE_P(Changes, FunctionDiffTable, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace simrt::diff
