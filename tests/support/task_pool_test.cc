#include "support/task_pool.h"

#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace simrt {
namespace {

TEST(TaskPool, ResultsComeByIndexWhateverTheTiming) {
  const auto results = map_tasks(200, 4, [](std::size_t i) {
    if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::to_string(i);
  });
  ASSERT_EQ(results.size(), 200U);
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], std::to_string(i));
}

TEST(TaskPool, RunsTasksAtTheSameTime) {
  std::atomic<int> waiting{0};
  run_tasks(3, 3, [&](std::size_t) {  // ends only when all three run at once
    ++waiting;
    while (waiting.load() < 3) std::this_thread::yield();
  });
  EXPECT_EQ(waiting.load(), 3);
}

TEST(TaskPool, OneThreadIsTheCallersAndInOrder) {
  std::vector<std::size_t> order;
  const auto caller = std::this_thread::get_id();
  run_tasks(5, 1, [&](std::size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(TaskPool, NothingToDo) {
  EXPECT_EQ(run_tasks(0, 8, [](std::size_t) { FAIL(); }), 0U);
  EXPECT_TRUE(map_tasks(0, 0, [](std::size_t i) { return i; }).empty());
}

TEST(TaskPool, AnInterruptStopsFurtherTasks) {
  InterruptToken token;
  std::atomic<std::size_t> ran{0};
  const std::size_t count = run_tasks(
      1000, 2,
      [&](std::size_t i) {
        ++ran;
        if (i == 10) token.request();
        while (i > 10 && !token.requested()) std::this_thread::yield();
      },
      &token);
  EXPECT_EQ(count, ran.load());
  EXPECT_GE(count, 11U);
  EXPECT_LT(count, 1000U);
}

TEST(TaskPool, InterruptedResultsAreEmpty) {
  InterruptToken token;
  token.request();
  const auto results = map_tasks(3, 2, [](std::size_t i) { return i; }, &token);
  EXPECT_THAT(results, testing::Each(std::nullopt));
}

TEST(TaskPool, RethrowsTheFirstExceptionAfterAllTasks) {
  std::atomic<int> ran{0};
  const auto run = [&] {
    run_tasks(20, 4, [&](std::size_t i) {
      ++ran;
      if (i == 3 || i == 17) throw std::runtime_error(std::to_string(i));
    });
  };
  EXPECT_THAT(run, testing::ThrowsMessage<std::runtime_error>("3"));
  EXPECT_EQ(ran.load(), 20);
}

}  // namespace
}  // namespace simrt
