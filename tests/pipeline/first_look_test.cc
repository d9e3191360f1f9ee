// Which tests come first after a first look.
#include "pipeline/check/first_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

using ::testing::ElementsAre;

FirstLook look(Promise promise, bool cut = false) {
  FirstLook look;
  look.promise = promise;
  look.ended = !cut;
  return look;
}

TEST(FirstLooks, SeenRacesComeFirstOneThreadLast) {
  std::vector<FirstLook> looks;
  looks.push_back(look(Promise::Alone));       // 0
  looks.push_back(look(Promise::Open));        // 1
  looks.push_back(look(Promise::Race, true));  // 2
  looks.push_back(FirstLook{});                // 3: not reached
  looks.push_back(look(Promise::Race));        // 4
  looks.push_back(look(Promise::Open, true));  // 5
  looks.push_back(look(Promise::Failure));     // 6
  EXPECT_THAT(by_promise(looks), ElementsAre(4, 6, 2, 1, 3, 5, 0));
  EXPECT_THAT(by_promise({}), ElementsAre());
}

}  // namespace
}  // namespace simrt::pipeline
