// Blocks that the same tests entered, as one: makes the additional-coverage order affordable.
#pragma once

#include <cstdint>
#include <vector>

#include "model/coverage.h"

namespace simrt::select {

struct BlockClasses {
  std::vector<std::vector<std::uint32_t>> of_test;  ///< parallel to the coverages
  std::vector<std::uint32_t> sizes;                 ///< blocks, by class
};

/// `coverages` may contain null: a test that entered nothing.
BlockClasses block_classes(const std::vector<const TestCoverage*>& coverages);

}  // namespace simrt::select
