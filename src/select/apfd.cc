#include "select/apfd.h"

#include <algorithm>

namespace simrt::select {

std::optional<double> apfd(std::size_t tests, const std::vector<std::vector<std::size_t>>& revealing) {
  if (tests == 0 || revealing.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& positions : revealing) {
    const auto first = std::min_element(positions.begin(), positions.end());
    sum += static_cast<double>(first == positions.end() ? tests + 1 : *first + 1);
  }
  const auto n = static_cast<double>(tests), m = static_cast<double>(revealing.size());
  return 1 - sum / (n * m) + 1 / (2 * n);
}

}  // namespace simrt::select
