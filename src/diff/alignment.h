// Heaviest common subsequence of two sequences, and the longest increasing one: order is what a diff must
// keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace simrt::diff {

using IndexPair = std::pair<std::size_t, std::size_t>;

/// Weight of pairing item i of the first with item j of the second sequence; 0 = they cannot be paired.
using PairWeight = std::function<std::uint32_t(std::size_t, std::size_t)>;

/// Pairs with the largest total weight such that both indices ascend. Quadratic; common ends are taken first,
/// and when what is left between them exceeds kAlignmentCells it stays unpaired (that is safe, only coarse).
std::vector<IndexPair> align(std::size_t first, std::size_t second, const PairWeight& weight);
inline constexpr std::size_t kAlignmentCells = 4'000'000;

/// Indices of a longest strictly increasing subsequence.
std::vector<std::size_t> longest_increasing(const std::vector<std::size_t>& values);

}  // namespace simrt::diff
