// The states that executions of a program reached, each with the shortest way there, and which of them to go
// back to: first return, then explore (Ecoffet, Huizinga, Lehman, Stanley, Clune: "First return, then
// explore", Nature 590, 2021). A bug that needs many context switches is reached by stages: each state that
// is hard to reach is reached once by chance, and then as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/execution.h"
#include "schedule/states.h"

namespace simrt::schedule {

/// Not thread-safe. Deterministic.
class StateArchive {
 public:
  /// What was reached by the choices of one execution; how many states were new. `known`: so many of the
  /// first choices were taken over from another execution, so that the states there do not count as reached
  /// once more.
  std::size_t add(const Choices& choices, std::span<const State> states, std::size_t known);

  /// The way to a state that was seldom reached and seldom gone back to, drawn by `random`. Empty while there
  /// is none.
  Choices draw(std::uint64_t random);

  std::size_t size() const { return entries_.size(); }
  /// Draws that went back to a state.
  std::uint64_t returns() const { return returns_; }

 private:
  struct Entry {
    std::uint32_t way = 0;      // of ways_
    std::uint32_t choices = 0;  // so many of its choices
    std::uint32_t reached = 0, drawn = 0;
  };
  struct Way {
    Choices choices;
    std::size_t entries = 0;  // that go by it
  };
  std::uint32_t keep(const Choices& choices, std::size_t length);
  void let_go(std::uint32_t way);

  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash_;  // to entries_
  std::vector<Way> ways_;
  std::vector<std::uint32_t> free_ways_;
  std::size_t kept_ = 0;  // choices of all ways
  std::uint64_t returns_ = 0;
};

}  // namespace simrt::schedule
