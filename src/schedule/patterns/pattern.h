// The 17 memory-access patterns (MAP, ASE 2019, table I) and their instances.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/execution.h"
#include "model/facts.h"

namespace simrt::schedule {

/// Number of a pattern, 1 to 17, as in the paper.
using PatternNumber = std::uint8_t;
inline constexpr PatternNumber kPatternCount = 17;

/// One step of a pattern. Thread 0 is the paper's a, 1 is b; variable 0 is x, 1 is y.
struct PatternStep {
  std::uint8_t thread = 0;
  std::uint8_t variable = 0;
  AccessMode mode = AccessMode::Read;
};

enum class PatternClass : std::uint8_t {
  Order,        ///< 1 to 3: two conflicting accesses in this order
  OneVariable,  ///< 4 to 8: unserialisable, one variable
  TwoVariables  ///< 9 to 17: unserialisable, two variables
};

/// The steps of pattern `number` (1 to 17), two to four of them.
std::span<const PatternStep> steps_of(PatternNumber number);
PatternClass class_of(PatternNumber number);
/// "a:R(x) b:W(x)".
std::string spelling_of(PatternNumber number);

/// What happened, without thread ids and without variables: two instances are the same when their sites are.
/// Unused sites are 0.
struct PatternInstance {
  PatternNumber pattern = 0;
  std::array<SiteId, 4> sites{};
  auto operator<=>(const PatternInstance&) const = default;
  std::span<const SiteId> used() const { return {sites.data(), steps_of(pattern).size()}; }
};

/// The orders of two conflicting accesses (patterns 1 to 3) that an instance of patterns 4 to 17 is made of:
/// where one of them cannot be brought about, the instance cannot either.
std::vector<PatternInstance> orders_in(const PatternInstance& instance);

/// Ranks of the order in which uncovered instances are worth aiming at: write-write first (it shows most
/// bugs, MAP section V), then the unserialisable ones, then plain orders.
int urgency_of(PatternNumber number);

}  // namespace simrt::schedule

template <>
struct std::hash<simrt::schedule::PatternInstance> {
  std::size_t operator()(const simrt::schedule::PatternInstance& instance) const noexcept;
};
