// What diff_programs() promises, checked on random programs, random edits and runs of both versions.
#include <gtest/gtest.h>

#include <algorithm>

#include "cfg_text.h"
#include "diff/diff.h"
#include "random_code.h"

namespace simrt::diff {
namespace {

constexpr std::uint64_t kSeeds = 800;
constexpr std::uint64_t kTests = 12;

struct Versions {
  FunctionFacts before, after;
};

Versions edited(std::uint64_t seed) {
  RandomCode code(seed);
  Body body = code.function();
  Versions versions{lower(body), {}};
  for (std::uint64_t i = 0; i < 1 + seed % 3; ++i) code.edit(body);
  versions.after = lower(body);
  return versions;
}

/// Null when unchanged.
const FunctionDiff* diff_of(const ProgramDiff& diff) {
  return diff.functions.empty() ? nullptr : &diff.functions.front();
}

ProgramDiff diff_versions(const Versions& versions, bool resync) {
  DiffOptions options;
  options.resync = resync;
  return diff_programs(program_of({versions.before}), program_of({versions.after}), options);
}

const Element& element_of(const FunctionFacts& function, std::uint32_t ordinal, std::uint32_t index) {
  return function.blocks.at(ordinal).elements.at(index);
}

class DiffProperty : public ::testing::TestWithParam<bool> {};

TEST_P(DiffProperty, EveryElementAppearsOnceOnEachSide) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Versions versions = edited(seed);
    const ProgramDiff diff = diff_versions(versions, GetParam());
    const FunctionDiff* function = diff_of(diff);
    if (!function) continue;
    std::set<std::pair<std::uint32_t, std::uint32_t>> old_elements;
    const auto claim = [&](std::uint32_t block, std::uint32_t element) {
      ASSERT_LT(element, versions.before.blocks.at(block).elements.size());
      ASSERT_TRUE(old_elements.emplace(block, element).second) << "seed " << seed;
    };
    ASSERT_EQ(function->blocks.size(), versions.after.blocks.size());
    for (const BlockDiff& block : function->blocks) {
      ASSERT_EQ(block.elements.size(), versions.after.blocks.at(block.ordinal).elements.size());
      for (const ElementDiff& element : block.elements) {
        ASSERT_EQ(element.status == ElementStatus::Added, element.old_block == kNoMatch);
        if (element.old_block != kNoMatch) claim(element.old_block, element.old_element);
      }
    }
    for (const RemovedElement& removed : function->removed) claim(removed.block, removed.element);
    std::size_t total = 0;
    for (const Block& block : versions.before.blocks) total += block.elements.size();
    ASSERT_EQ(old_elements.size(), total) << "seed " << seed;
  }
}

TEST_P(DiffProperty, SameMeansEqualCode) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Versions versions = edited(seed);
    const ProgramDiff diff = diff_versions(versions, GetParam());
    const FunctionDiff* function = diff_of(diff);
    if (!function) continue;
    for (const BlockDiff& block : function->blocks) {
      for (std::uint32_t i = 0; i < block.elements.size(); ++i) {
        const ElementDiff& element = block.elements[i];
        if (element.status != ElementStatus::Same) continue;
        // Locals keep their names in these edits, so that equal text is the whole truth.
        ASSERT_EQ(text_of(element_of(versions.after, block.ordinal, i)),
                  text_of(element_of(versions.before, element.old_block, element.old_element)))
            << "seed " << seed;
      }
    }
  }
}

TEST_P(DiffProperty, ATestThatMeetsNoChangedElementBehavesAsBefore) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Versions versions = edited(seed);
    const ProgramDiff diff = diff_versions(versions, GetParam());
    const FunctionDiff* function = diff_of(diff);
    std::set<std::pair<std::uint32_t, std::uint32_t>> changed_old, changed_new;
    if (function) {
      for (const RemovedElement& removed : function->removed)
        changed_old.emplace(removed.block, removed.element);
      for (const BlockDiff& block : function->blocks) {
        for (std::uint32_t i = 0; i < block.elements.size(); ++i) {
          if (block.elements[i].status == ElementStatus::Same) continue;
          changed_new.emplace(block.ordinal, i);
          changed_old.emplace(block.elements[i].old_block, block.elements[i].old_element);
        }
      }
    }
    const auto meets = [](const Execution& execution, const auto& changed) {
      return std::any_of(execution.elements.begin(), execution.elements.end(),
                         [&](const auto& element) { return changed.contains(element); });
    };
    for (std::uint64_t test = 0; test < kTests; ++test) {
      const Execution before = execute(versions.before, test), after = execute(versions.after, test);
      if (meets(before, changed_old) || meets(after, changed_new)) continue;
      ASSERT_EQ(before.trace, after.trace) << "seed " << seed << "\n"
                                           << diff_text(versions.before, versions.after, GetParam());
    }
  }
}

TEST_P(DiffProperty, ATestThatMeetsNoDangerousBlockBehavesAsBefore) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Versions versions = edited(seed);
    const ProgramDiff diff = diff_versions(versions, GetParam());
    const FunctionDiff* function = diff_of(diff);
    for (std::uint64_t test = 0; test < kTests; ++test) {
      const Execution before = execute(versions.before, test);
      if (function && std::any_of(function->dangerous.begin(), function->dangerous.end(),
                                  [&](std::uint32_t block) { return before.blocks.contains(block); }))
        continue;
      ASSERT_EQ(before.trace, execute(versions.after, test).trace) << "seed " << seed;
    }
  }
}

TEST_P(DiffProperty, WhoEntersABlockEnteredItsOldBlock) {
  std::size_t own = 0, total = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Versions versions = edited(seed);
    const ProgramDiff diff = diff_versions(versions, GetParam());
    const FunctionDiff* function = diff_of(diff);
    if (!function) continue;
    for (std::uint64_t test = 0; test < kTests; ++test) {
      const Execution before = execute(versions.before, test), after = execute(versions.after, test);
      if (!before.finished || !after.finished) continue;
      for (const BlockDiff& block : function->blocks) {
        ASSERT_NE(block.old_ordinal, kNoMatch);
        if (!after.blocks.contains(block.ordinal)) continue;
        ASSERT_TRUE(before.blocks.contains(block.old_ordinal))
            << "seed " << seed << " test " << test << " block " << block.ordinal << "\n"
            << diff_text(versions.before, versions.after, GetParam());
        if (!block.elements.empty() && block.elements.front().old_block == block.old_ordinal) ++own;
        total += !block.elements.empty();
      }
    }
  }
  // The promise would be empty if everything mapped to the entry.
  if (GetParam()) {
    EXPECT_GT(static_cast<double>(own), 0.8 * static_cast<double>(total));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, DiffProperty, ::testing::Values(true, false),
                         [](const auto& mode) { return mode.param ? "Resync" : "StopAtMismatch"; });

TEST(DiffProperties, IdenticalProgramsHaveNoDiff) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomCode code(seed);
    const FunctionFacts function = lower(code.function());
    const ProgramDiff diff = diff_programs(program_of({function}), program_of({function}));
    ASSERT_TRUE(diff.functions.empty()) << "seed " << seed;
  }
}

TEST(DiffProperties, TheWalkItselfFindsIdenticalCodeEqual) {
  // The body hash is forced to differ, so that the walk runs.
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    RandomCode code(seed);
    const FunctionFacts before = lower(code.function());
    FunctionFacts after = before;
    after.body ^= 1;
    const ProgramDiff diff = diff_programs(program_of({before}), program_of({after}));
    ASSERT_EQ(diff.functions.size(), 1u);
    ASSERT_TRUE(diff.functions.front().dangerous.empty());
    ASSERT_TRUE(diff.functions.front().removed.empty());
    for (const BlockDiff& block : diff.functions.front().blocks) {
      ASSERT_EQ(block.old_ordinal, block.ordinal) << "seed " << seed;
      ASSERT_FALSE(block.resynced);
      for (const ElementDiff& element : block.elements) ASSERT_EQ(element.status, ElementStatus::Same);
    }
  }
}

TEST(DiffProperties, RenamedLocalsAreNoChange) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomCode code(seed);
    const FunctionFacts before = lower(code.function());
    FunctionFacts after = before;
    after.body ^= 1;
    for (Local& local : after.locals) local.name += "_renamed";
    const ProgramDiff diff = diff_programs(program_of({before}), program_of({after}));
    ASSERT_TRUE(diff.functions.front().dangerous.empty()) << "seed " << seed;
  }
}

TEST(DiffProperties, ResyncNeverMatchesLessThanTheBaseline) {
  std::size_t with = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Versions versions = edited(seed);
    const auto same = [&](bool resync) {
      std::size_t count = 0;
      const ProgramDiff diff = diff_versions(versions, resync);
      if (!diff.functions.empty())
        for (const BlockDiff& block : diff.functions.front().blocks)
          for (const ElementDiff& element : block.elements) count += element.status == ElementStatus::Same;
      return count;
    };
    with += same(true);
    without += same(false);
  }
  EXPECT_GT(with, without);
}

}  // namespace
}  // namespace simrt::diff
