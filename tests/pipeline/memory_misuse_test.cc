// Wrong use of the heap, read out of an event log.
#include "pipeline/execution/memory_misuse.h"

#include <gtest/gtest.h>

namespace simrt::pipeline {
namespace {

using format::EventKind;

class Log {
 public:
  Log& add(EventKind kind, std::uint64_t object, std::uint32_t size) {
    format::RunEvent event = {};
    event.object = object;
    event.size = size;
    event.kind = static_cast<std::uint8_t>(kind);
    execution_.events.push_back(event);
    return *this;
  }
  std::optional<MemoryMisuse> misuse() const { return find_memory_misuse(execution_); }

 private:
  testing::Execution execution_;
};

TEST(MemoryMisuse, MemoryTouchedBehindItsReleaseIsFound) {
  for (const EventKind kind :
       {EventKind::Read, EventKind::Write, EventKind::AtomicLoad, EventKind::AtomicUpdate}) {
    const auto misuse =
        Log().add(EventKind::Allocate, 100, 32).add(EventKind::Free, 100, 32).add(kind, 124, 8).misuse();
    ASSERT_TRUE(misuse);
    EXPECT_EQ(to_string(*misuse), "use after free");
    EXPECT_EQ(misuse->event, 2U);
    EXPECT_EQ(misuse->release, 1U);
  }
}

TEST(MemoryMisuse, WhatBeginsInFrontOfTheBlockOrBehindItIsNone) {
  Log log;
  log.add(EventKind::Free, 100, 32);
  EXPECT_FALSE(Log(log).add(EventKind::Read, 92, 8).misuse());
  EXPECT_FALSE(Log(log).add(EventKind::Read, 132, 8).misuse());
  EXPECT_TRUE(Log(log).add(EventKind::Read, 96, 8).misuse()) << "reaches into it";
}

TEST(MemoryMisuse, ABlockThatWasHandedOutAgainIsLive) {
  const auto partly = [](std::uint64_t begin, std::uint32_t size) {
    return Log()
        .add(EventKind::Free, 100, 32)
        .add(EventKind::Allocate, begin, size)
        .add(EventKind::Write, 110, 4);
  };
  EXPECT_FALSE(partly(100, 32).misuse());
  EXPECT_FALSE(partly(104, 16).misuse());
  EXPECT_TRUE(partly(200, 16).misuse());
}

TEST(MemoryMisuse, ABlockReleasedTwiceIsFoundUnlessItWasHandedOutBetween) {
  const auto misuse = Log().add(EventKind::Free, 100, 32).add(EventKind::Free, 100, 32).misuse();
  ASSERT_TRUE(misuse);
  EXPECT_EQ(to_string(*misuse), "double free");
  EXPECT_FALSE(Log()
                   .add(EventKind::Free, 100, 32)
                   .add(EventKind::Allocate, 100, 16)
                   .add(EventKind::Free, 100, 16)
                   .misuse());
}

}  // namespace
}  // namespace simrt::pipeline
