// Average percentage of faults detected: how early an order reveals what there is to reveal.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace simrt::select {

/// 1 - (TR_1 + ... + TR_m) / (n * m) + 1 / (2n), where TR_i is the 1-based position of the first test that
/// reveals fault i, n the number of tests and m that of faults (Rothermel, Untch, Chu and Harrold, 2001;
/// SimRT section 4). `revealing[i]` are the 0-based positions of the tests that reveal fault i. A fault that
/// no test reveals counts as position n + 1. Empty without tests or faults.
std::optional<double> apfd(std::size_t tests, const std::vector<std::vector<std::size_t>>& revealing);

}  // namespace simrt::select
