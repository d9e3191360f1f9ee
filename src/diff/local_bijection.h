// One-to-one map between the locals of two versions of a function, built up while the walk meets them: an
// inserted local renumbers nobody, a renamed one is found by what is done with it, and swapped ones are seen.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/facts.h"

namespace simrt::diff {

class LocalBijection {
 public:
  /// Binds the parameters: by position when their types agree, else the longest common part by name and type.
  /// Both must outlive this.
  LocalBijection(const FunctionFacts& before, const FunctionFacts& after);

  /// Equal code, and locals that are bound to each other or could be.
  bool could_match(const Element& old_element, const Element& new_element) const;
  /// could_match, and then binds. Binds nothing on failure.
  bool match(const Element& old_element, const Element& new_element);
  /// match() for every element and equal terminators; binds nothing on failure.
  bool match(const Block& old_block, const Block& new_block);
  /// True when all locals have the same names: breaks ties between equal code.
  bool same_names(const Element& old_element, const Element& new_element) const;

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  bool can_pair(std::uint32_t old_local, std::uint32_t new_local, bool defined_here) const;
  bool compatible(const Local& old_local, const Local& new_local) const;
  void bind(std::uint32_t old_local, std::uint32_t new_local);
  void undo(std::size_t trail_size);
  void bind_parameters();

  const FunctionFacts* before_;
  const FunctionFacts* after_;
  std::vector<std::uint32_t> new_of_, old_of_;
  std::vector<Pair> trail_;
  std::set<std::pair<std::string, std::uint64_t>> old_names_, new_names_;  ///< (name, type)
};

}  // namespace simrt::diff
