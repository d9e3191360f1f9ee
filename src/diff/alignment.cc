#include "diff/alignment.h"

#include <algorithm>

namespace simrt::diff {
namespace {

/// Plain dynamic programming over the suffixes starting at (i, j), shifted by `offset`.
void align_middle(std::size_t offset, std::size_t rows, std::size_t columns, const PairWeight& weight,
                  std::vector<IndexPair>& out) {
  const std::size_t width = columns + 1;
  std::vector<std::uint64_t> best((rows + 1) * width);
  std::vector<std::uint32_t> weights(rows * columns);
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      const std::uint32_t pair = weights[i * columns + j] = weight(offset + i, offset + j);
      std::uint64_t& cell = best[i * width + j];
      cell = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      if (pair != 0) cell = std::max(cell, best[(i + 1) * width + j + 1] + pair);
    }
  }
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    const std::uint64_t cell = best[i * width + j];
    const std::uint32_t pair = weights[i * columns + j];
    if (pair != 0 && cell == best[(i + 1) * width + j + 1] + pair) {
      out.emplace_back(offset + i++, offset + j++);
    } else if (cell == best[(i + 1) * width + j]) {
      ++i;
    } else {
      ++j;
    }
  }
}

}  // namespace

std::vector<IndexPair> align(std::size_t first, std::size_t second, const PairWeight& weight) {
  std::vector<IndexPair> pairs;
  if (first * second <= kAlignmentCells) {
    align_middle(0, first, second, weight, pairs);
    return pairs;
  }
  std::size_t head = 0;
  while (head < first && head < second && weight(head, head) != 0) pairs.emplace_back(head, head), ++head;
  std::size_t tail = 0;
  while (tail < first - head && tail < second - head && weight(first - tail - 1, second - tail - 1) != 0)
    ++tail;
  const std::size_t rows = first - head - tail, columns = second - head - tail;
  if (rows * columns <= kAlignmentCells) align_middle(head, rows, columns, weight, pairs);
  for (std::size_t i = tail; i-- > 0;) pairs.emplace_back(first - i - 1, second - i - 1);
  return pairs;
}

std::vector<std::size_t> longest_increasing(const std::vector<std::size_t>& values) {
  std::vector<std::size_t> tails,
      previous(values.size());  // tails[k]: index that ends the best run of length k + 1
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place =
        std::lower_bound(tails.begin(), tails.end(), values[i],
                         [&](std::size_t index, std::size_t value) { return values[index] < value; });
    previous[i] = place == tails.begin() ? SIZE_MAX : *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<std::size_t> result;
  for (std::size_t at = tails.empty() ? SIZE_MAX : tails.back(); at != SIZE_MAX; at = previous[at])
    result.push_back(at);
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace simrt::diff
