#include "schedule/patterns/pattern.h"

#include "support/hash.h"

namespace simrt::schedule {
namespace {

constexpr AccessMode R = AccessMode::Read;
constexpr AccessMode W = AccessMode::Write;

struct Definition {
  std::uint8_t count;
  std::array<PatternStep, 4> steps;
};

constexpr std::uint8_t a = 0, b = 1, x = 0, y = 1;

constexpr std::array<Definition, kPatternCount> kPatterns = {{
    {2, {{{a, x, R}, {b, x, W}}}},
    {2, {{{a, x, W}, {b, x, R}}}},
    {2, {{{a, x, W}, {b, x, W}}}},
    {3, {{{a, x, R}, {b, x, W}, {a, x, R}}}},
    {3, {{{a, x, W}, {b, x, W}, {a, x, R}}}},
    {3, {{{a, x, W}, {b, x, R}, {a, x, W}}}},
    {3, {{{a, x, R}, {b, x, W}, {a, x, W}}}},
    {3, {{{a, x, W}, {b, x, W}, {a, x, W}}}},
    {4, {{{a, x, W}, {b, x, W}, {b, y, W}, {a, y, W}}}},
    {4, {{{a, x, W}, {b, y, W}, {b, x, W}, {a, y, W}}}},
    {4, {{{a, x, W}, {b, y, W}, {a, y, W}, {b, x, W}}}},
    {4, {{{a, x, W}, {b, x, R}, {b, y, R}, {a, y, W}}}},
    {4, {{{a, x, W}, {b, y, R}, {b, x, R}, {a, y, W}}}},
    {4, {{{a, x, R}, {b, x, W}, {b, y, W}, {a, y, R}}}},
    {4, {{{a, x, R}, {b, y, W}, {b, x, W}, {a, y, R}}}},
    {4, {{{a, x, R}, {b, y, W}, {a, y, R}, {b, x, W}}}},
    {4, {{{a, x, W}, {b, y, R}, {a, y, W}, {b, x, R}}}},
}};

}  // namespace

std::span<const PatternStep> steps_of(PatternNumber number) {
  if (number == 0 || number > kPatternCount) return {};
  const Definition& definition = kPatterns[number - 1u];
  return {definition.steps.data(), definition.count};
}

PatternClass class_of(PatternNumber number) {
  if (number <= 3) return PatternClass::Order;
  return number <= 8 ? PatternClass::OneVariable : PatternClass::TwoVariables;
}

std::string spelling_of(PatternNumber number) {
  std::string text;
  for (const PatternStep& step : steps_of(number)) {
    if (!text.empty()) text += ' ';
    text += step.thread == 0 ? "a:" : "b:";
    text += step.mode == R ? "R(" : "W(";
    text += step.variable == 0 ? "x)" : "y)";
  }
  return text;
}

int urgency_of(PatternNumber number) {
  if (number == 3) return 0;
  return class_of(number) == PatternClass::Order ? 3 : class_of(number) == PatternClass::OneVariable ? 1 : 2;
}

std::vector<PatternInstance> orders_in(const PatternInstance& instance) {
  std::vector<PatternInstance> orders;
  if (class_of(instance.pattern) == PatternClass::Order) return orders;
  const auto steps = steps_of(instance.pattern);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t j = i + 1; j < steps.size(); ++j) {
      const bool writes_first = steps[i].mode == AccessMode::Write,
                 writes_then = steps[j].mode == AccessMode::Write;
      if (steps[i].thread == steps[j].thread || steps[i].variable != steps[j].variable) continue;
      if (!writes_first && !writes_then) continue;
      const PatternNumber order = !writes_first ? 1 : !writes_then ? 2 : 3;
      orders.push_back({order, {instance.sites[i], instance.sites[j]}});
    }
  return orders;
}

}  // namespace simrt::schedule

std::size_t std::hash<simrt::schedule::PatternInstance>::operator()(
    const simrt::schedule::PatternInstance& instance) const noexcept {
  std::uint64_t hash = instance.pattern;
  for (simrt::SiteId site : instance.sites) hash = simrt::hash_combine(hash, site.value);
  return hash;
}
