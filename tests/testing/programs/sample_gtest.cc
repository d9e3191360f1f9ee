// Cases of every kind of name and end that GoogleTest has. Prints before main to disturb text parsers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

[[maybe_unused]] const int g_noise = std::puts("Loading.\n  Noise");

TEST(Sample, Passes) { std::puts("ran Sample.Passes"); }
TEST(Sample, PassesToo) { std::puts("ran Sample.PassesToo"); }
TEST(Sample, Fails) { FAIL() << "on purpose"; }
TEST(Sample, Skips) { GTEST_SKIP() << "not here"; }
TEST(Sample, Crashes) { std::abort(); }
TEST(Sample, Hangs) { ::sleep(600); }
TEST(Sample, DISABLED_Off) { std::puts("ran Sample.DISABLED_Off"); }
TEST(DISABLED_Suite, Case) {}

class Values : public testing::TestWithParam<std::string> {};
TEST_P(Values, Hold) { std::printf("ran with %s\n", GetParam().c_str()); }
INSTANTIATE_TEST_SUITE_P(Some, Values, testing::Values("a # b", "c.d"));

template <class T>
class Typed : public testing::Test {};
using Types = testing::Types<int, double>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, Works) { SUCCEED(); }

}  // namespace
