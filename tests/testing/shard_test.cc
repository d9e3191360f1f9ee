#include "testing/shard.h"

#include <gmock/gmock.h>

#include <string>

#include "support/hash.h"

namespace simrt::testing {
namespace {

TEST(Shard, EveryNameIsInExactlyOne) {
  for (std::uint32_t count = 1; count <= 5; ++count) {
    std::vector<int> sizes(count);
    for (int i = 0; i < 500; ++i) {
      int owners = 0;
      for (std::uint32_t index = 1; index <= count; ++index) {
        if (Shard{index, count}.contains("Suite.Case" + std::to_string(i))) {
          ++owners;
          ++sizes[index - 1];
        }
      }
      EXPECT_EQ(owners, 1);
    }
    for (const int size : sizes) EXPECT_GT(size, static_cast<int>(500 / count / 2));
  }
}

TEST(Shard, IsTheSameOnEveryMachine) {
  // A changed hash would move every test to another machine and spoil the merge of their histories.
  EXPECT_EQ(hash_bytes("Suite.Case"), 7713068723364406334U);
  EXPECT_TRUE((Shard{3, 3}.contains("Suite.Case")));
}

TEST(ParseShard, AcceptsOnlyIOfN) {
  const auto shard = parse_shard("2/5");
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->index, 2U);
  EXPECT_EQ(shard->count, 5U);
  for (const char* text :
       {"", "1", "/", "0/3", "4/3", "1/0", "-1/3", "1/3/5", " 1/3", "1/3 ", "a/b", "1/99999999999"}) {
    const auto result = parse_shard(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::Usage);
  }
}

}  // namespace
}  // namespace simrt::testing
