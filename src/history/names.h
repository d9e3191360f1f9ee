// Words for the numbers that the tables keep. Internal to the layer; part of the documented views.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace simrt::history {

inline constexpr std::string_view kOutcomes[] = {"passed",    "failed",  "crashed",
                                                 "timed-out", "skipped", "not-run"};
inline constexpr std::string_view kTechniques[] = {"simrt", "simrt-n", "rtsc", "rta"};
inline constexpr std::string_view kModes[] = {"read", "write"};
inline constexpr std::string_view kRules[] = {"not-impacted", "access-changed", "call-changed",
                                              "sync-changed", "safety-dropped", "forward-slice",
                                              "unknown"};

template <std::size_t Size>
constexpr std::string_view word(const std::string_view (&words)[Size], std::int64_t value) {
  return value >= 0 && static_cast<std::size_t>(value) < Size ? words[value] : std::string_view("?");
}

}  // namespace simrt::history
