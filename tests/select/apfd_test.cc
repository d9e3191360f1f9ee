#include "select/apfd.h"

#include <gtest/gtest.h>

namespace simrt::select {
namespace {

TEST(Apfd, Formula) {
  EXPECT_DOUBLE_EQ(apfd(1, {{0}}).value(), 0.5);
  EXPECT_DOUBLE_EQ(apfd(10, {{0}}).value(), 0.95);
  EXPECT_DOUBLE_EQ(apfd(10, {{9}}).value(), 0.05);
  EXPECT_DOUBLE_EQ(apfd(5, {{4, 0}, {2}}).value(), 1 - 4.0 / 10 + 0.1);
}

TEST(Apfd, UndetectedFaultsStandBehindAllTests) { EXPECT_DOUBLE_EQ(apfd(10, {{}}).value(), 1 - 1.1 + 0.05); }

TEST(Apfd, UndefinedWithoutTestsOrFaults) {
  EXPECT_FALSE(apfd(0, {{0}}).has_value());
  EXPECT_FALSE(apfd(3, {}).has_value());
}

}  // namespace
}  // namespace simrt::select
