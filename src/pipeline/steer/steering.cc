#include "pipeline/steer/steering.h"

#include <fmt/format.h>

#include <charconv>

namespace simrt::pipeline {
namespace {

/// "pct3" -> 3; nothing when the name is not `word` with a number (or alone, where `otherwise` is meant).
std::optional<std::uint64_t> number_behind(const std::string& name, const std::string& word,
                                           std::optional<std::uint64_t> otherwise) {
  if (!name.starts_with(word)) return std::nullopt;
  const std::string digits = name.substr(word.size());
  if (digits.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> kNames = {
      "auto", "delay", "map",  "pair", "hapset", "hapset+pcb", "hapset+pcbN", "hapset+rest", "dpor",
      "pcbN", "dfs",   "pctN", "pos",  "surw",   "rf",         "period",      "states",      "random"};
  return kNames;
}

Result<std::unique_ptr<Steering>> make_steering(const SteeringOptions& options) {
  const std::string& name = options.strategy;
  if (name == "auto") return steer_portfolio(options);
  if (name == "map") return steer_patterns(options);
  if (name == "pair") return steer_pairs(options);
  if (name == "rf") return steer_reads_from(options);
  if (name == "period") return steer_periods(options);
  if (name == "delay") return steer_delays(options);
  if (name == "states") return steer_states(options);
  if (name == "random" || name == "pos" || name == "surw") return steer_sampling(options, name, 0);
  if (const auto depth = number_behind(name, "pct", 3)) return steer_sampling(options, "pct", *depth);
  const bool searches =
      name == "dfs" || name.starts_with("dpor") || name.starts_with("hapset") || name.starts_with("pcb");
  if (searches) return steer_search(options, name);
  return fail(ErrorCode::Usage, fmt::format("there is no strategy {}", name),
              fmt::format("{}", fmt::join(strategy_names(), ", ")));
}

}  // namespace simrt::pipeline
