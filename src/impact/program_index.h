// Dense numbers for everything in one program version: functions, blocks, elements and events each get a
// position, so that the analyses work on arrays. Elements and events of one function are contiguous and in
// evaluation order per block. Knows nothing of the other version.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/program.h"

namespace simrt::impact {

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// Where an element stands; `block` is the position in FunctionFacts::blocks, not Clang's ordinal.
struct ElementRef {
  std::uint32_t function = 0, block = 0, index = 0;
};

/// Half-open range of dense numbers.
struct Range {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
  bool contains(std::uint32_t number) const { return number >= begin && number < end; }
};

class ProgramIndex {
 public:
  /// `program` must outlive the index and be indexed itself.
  explicit ProgramIndex(const Program& program);

  const Program& program() const { return *program_; }

  std::uint32_t function_count() const { return static_cast<std::uint32_t>(program_->functions.size()); }
  const FunctionFacts& function(std::uint32_t number) const { return program_->functions[number]; }
  /// kNone when the program has no such function.
  std::uint32_t find(FunctionId id) const;
  /// All functions that code naming `id` may mean: the variants of a function that units define differently.
  std::span<const std::uint32_t> variants(FunctionId id) const;
  /// Ids under which the body of `function` names its own parameters and locals: its own, and those of its
  /// variants.
  std::vector<FunctionId> identities(std::uint32_t function) const;

  std::uint32_t element_count() const { return static_cast<std::uint32_t>(elements_.size()); }
  std::uint32_t event_count() const { return static_cast<std::uint32_t>(events_.size()); }
  Range elements_of(std::uint32_t function) const;
  Range events_of(std::uint32_t function) const;
  Range elements_of_block(std::uint32_t function, std::uint32_t block) const;
  Range events_of_element(std::uint32_t element) const {
    return {first_event_[element], first_event_[element + 1]};
  }

  const ElementRef& where(std::uint32_t element) const { return elements_[element]; }
  const Element& element(std::uint32_t number) const;
  const Event& event(std::uint32_t number) const { return *events_[number]; }
  std::uint32_t element_of(std::uint32_t event) const { return element_of_event_[event]; }
  std::uint32_t function_of_event(std::uint32_t event) const {
    return elements_[element_of_event_[event]].function;
  }

  /// Position of the block with Clang's ordinal, or kNone.
  std::uint32_t block_position(std::uint32_t function, std::uint32_t ordinal) const;

 private:
  void number_bodies();
  void group_variants();

  const Program* program_;
  std::vector<std::uint32_t> first_block_;    ///< per function, and one past
  std::vector<std::uint32_t> first_element_;  ///< per block over all functions, and one past
  std::vector<ElementRef> elements_;
  std::vector<std::uint32_t> first_event_;  ///< per element, and one past
  std::vector<const Event*> events_;
  std::vector<std::uint32_t> element_of_event_;
  std::vector<std::uint32_t> self_;  ///< 0, 1, 2, ...: storage behind one-element spans
  std::unordered_map<FunctionId, std::vector<std::uint32_t>> variants_;  ///< only where there are several
};

}  // namespace simrt::impact
