#include "history/block_numbers.h"

#include <gtest/gtest.h>

#include <set>

#include "history/mapping_store.h"
#include "sample.h"

namespace simrt::history {
namespace {

Program sample_program(std::uint64_t seed, std::size_t functions) {
  return unite({Sampler(seed).unit("a.cc", functions)});
}

TEST(BlockNumbers, AreDenseAndTurnBack) {
  TempDir dir;
  Database database = create(dir.file());
  const Program program = sample_program(21, 50);
  const BlockNumbering numbering = ok(assign_block_numbers(database, program));
  std::set<BlockNumber> seen;
  for (const FunctionFacts& function : program.functions)
    for (const Block& block : function.blocks) {
      const auto number = numbering.number({function.id, block.ordinal});
      ASSERT_TRUE(number.has_value());
      EXPECT_TRUE(seen.insert(*number).second);
      EXPECT_EQ(numbering.block(*number), (BlockId{function.id, block.ordinal}));
    }
  EXPECT_EQ(*seen.begin(), 0U);
  EXPECT_EQ(*seen.rbegin(), seen.size() - 1);
  EXPECT_FALSE(numbering.number({function_id("nobody"), 0}).has_value());
  EXPECT_FALSE(numbering.number({program.functions[0].id, 1000}).has_value());
  EXPECT_FALSE(numbering.block(static_cast<BlockNumber>(seen.size())).has_value());
  EXPECT_FALSE(BlockNumbering().block(0).has_value());
}

TEST(BlockNumbers, StayForUnchangedBodiesAndDifferForChangedOnes) {
  TempDir dir;
  Program program = sample_program(22, 50);
  BlockNumbering before;
  {
    Database database = create(dir.file());
    before = ok(assign_block_numbers(database, program));
  }
  const FunctionId changed = program.functions[7].id;
  FunctionFacts other_body = program.functions[7], moved = program.functions[8];
  other_body.body ^= 1;
  moved.begin_line += 5;
  program.functions.replace(7, other_body);
  program.functions.replace(8, moved);
  Database database = create(dir.file());
  const BlockNumbering unassigned = ok(load_block_numbers(database, program));
  EXPECT_FALSE(unassigned.range(changed).has_value());
  EXPECT_EQ(unassigned.ranges().size(), program.functions.size() - 1);

  const BlockNumbering after = ok(assign_block_numbers(database, program));
  for (const FunctionFacts& function : program.functions) {
    if (function.id == changed) {
      EXPECT_NE(after.range(function.id), before.range(function.id));
    } else {
      EXPECT_EQ(after.range(function.id), before.range(function.id));
    }
  }
  EXPECT_FALSE(
      after.block(before.range(changed)->base).has_value());  // that body is no longer in the program
  other_body.body ^= 1;
  program.functions.replace(7, other_body);
  EXPECT_EQ(ok(assign_block_numbers(database, program)).ranges(), before.ranges());  // changed back
}

TEST(BlockNumbers, GapsBetweenOrdinalsAndEmptyFunctionsAreFine) {
  TempDir dir;
  Database database = create(dir.file());
  Program program;
  FunctionFacts gap, empty, one;
  gap.id = {1};
  gap.blocks = {{0, 0, {}, {}}, {9, 0, {}, {}}};
  empty.id = {2};
  one.id = {3};
  one.blocks = {{0, 0, {}, {}}};
  program.functions = {gap, empty, one};
  const BlockNumbering numbering = ok(assign_block_numbers(database, program));
  EXPECT_EQ(numbering.number({{1}, 9}), 9U);
  EXPECT_EQ(numbering.number({{3}, 0}), 10U);
  EXPECT_FALSE(numbering.range({2}).has_value());
}

TEST(BlockNumbers, TwoWritersNeverGiveOneNumberTwice) {
  TempDir dir;
  Database first = create(dir.file()), second = create(dir.file());
  const BlockNumbering a = ok(assign_block_numbers(first, sample_program(23, 20)));
  const BlockNumbering b = ok(assign_block_numbers(second, sample_program(24, 20)));
  const BlockNumbering c = ok(assign_block_numbers(first, sample_program(25, 20)));
  std::vector<BlockRange> all = a.ranges();
  all.insert(all.end(), b.ranges().begin(), b.ranges().end());
  all.insert(all.end(), c.ranges().begin(), c.ranges().end());
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].base, all[i - 1].base + all[i - 1].span);
}

TEST(MappingStore, KeepsTheCallersBytes) {
  TempDir dir;
  Database database = create(dir.file());
  const std::string bytes("\0\x01mapping\xff", 10);
  EXPECT_FALSE(ok(find_mapping(database, "build-id")).has_value());
  ok(put_mapping(database, "build-id", "old", 1));
  ok(put_mapping(database, "build-id", bytes, 2));
  EXPECT_EQ(ok(find_mapping(database, "build-id")), bytes);
}

}  // namespace
}  // namespace simrt::history
