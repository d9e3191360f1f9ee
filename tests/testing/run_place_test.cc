// Where run files go: never where a program would die of a full file system.
#include <gtest/gtest.h>

#include "testing/run_file.h"

namespace simrt::testing {
namespace {

constexpr std::uint64_t kMega = 1 << 20;

TEST(RunPlace, TheFirstDirectoryWithRoomForTwo) {
  EXPECT_EQ(place_of_run_file({{"/shm", 4000 * kMega}, {"/tmp", 9000 * kMega}}, 256 * kMega, kMega),
            (RunPlace{"/shm", 256 * kMega}));
  EXPECT_EQ(place_of_run_file({{"/shm", 512 * kMega}, {"/tmp", 9000 * kMega}}, 256 * kMega, kMega),
            (RunPlace{"/shm", 256 * kMega}));
}

TEST(RunPlace, AContainersSmallSharedMemoryIsPassedOver) {
  EXPECT_EQ(place_of_run_file({{"/shm", 64 * kMega}, {"/tmp", 9000 * kMega}}, 256 * kMega, kMega),
            (RunPlace{"/tmp", 256 * kMega}));
}

TEST(RunPlace, WithLittleRoomEverywhereTheFileIsSmaller) {
  EXPECT_EQ(place_of_run_file({{"/shm", 64 * kMega}, {"/tmp", 40 * kMega}}, 256 * kMega, kMega),
            (RunPlace{"/shm", 16 * kMega}));
  EXPECT_EQ(place_of_run_file({{"/shm", 20 * kMega}, {"/tmp", 40 * kMega}}, 256 * kMega, 12 * kMega),
            (RunPlace{"/tmp", 12 * kMega}));
  EXPECT_EQ(place_of_run_file({{"/shm", 0}}, 256 * kMega, 12 * kMega), (RunPlace{"/shm", 12 * kMega}));
  // What was asked for may be less than what records need.
  EXPECT_EQ(place_of_run_file({{"/shm", 1}}, kMega, 12 * kMega), (RunPlace{"/shm", kMega}));
}

TEST(RunPlace, AMissingDirectoryIsPassedOver) {
  const auto file = RunFile::create("/not/there", kMega, 4096);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->path().starts_with("/not/there"));
  EXPECT_FALSE(file->is_out_of_room());
}

}  // namespace
}  // namespace simrt::testing
