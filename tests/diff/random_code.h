// Random structured programs, random edits of them, their CFGs, and runs: the oracle for what a diff
// promises.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/facts.h"

namespace simrt::diff {

struct Statement;
using Body = std::vector<Statement>;

struct Statement {
  enum class Kind { Simple, If, While, Switch, Return, Break, Try };
  Kind kind = Kind::Simple;
  std::string text;          ///< also the condition of If, While, Switch
  std::vector<Body> bodies;  ///< If: then, else. While: body. Switch: cases, default last. Try: body, handler
  std::vector<int> labels;   ///< Switch: case values
};

class RandomCode {
 public:
  explicit RandomCode(std::uint64_t seed) : random_(seed) {}
  Body function();
  /// Inserts, deletes, alters or moves a statement, swaps bodies, changes a case label or a local; at random.
  void edit(Body& body);

 private:
  Body body(int depth, bool in_loop);
  Statement statement(int depth, bool in_loop);
  std::string fresh(const char* prefix);
  std::size_t below(std::size_t bound) { return random_() % bound; }
  Body& some_body(Body& body, bool& in_loop);

  std::mt19937_64 random_;
  int next_ = 0;
};

/// The CFG of a body, with blocks numbered against the source order as Clang does; text as in parse_cfg().
FunctionFacts lower(const Body& body);

/// One test's run through a CFG: conditions are decided by the test's seed and the condition's text, loops by
/// their turn as well; nothing is thrown.
struct Execution {
  std::vector<std::string> trace;                              ///< element texts
  std::set<std::uint32_t> blocks;                              ///< ordinals
  std::set<std::pair<std::uint32_t, std::uint32_t>> elements;  ///< (ordinal, index)
  bool finished = false;                                       ///< reached the exit
};
Execution execute(const FunctionFacts& function, std::uint64_t test);

}  // namespace simrt::diff
