#include "impact/program_index.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace simrt::impact {

ProgramIndex::ProgramIndex(const Program& program) : program_(&program) {
  number_bodies();
  group_variants();
}

void ProgramIndex::number_bodies() {
  const auto& functions = program_->functions;
  first_block_.reserve(functions.size() + 1);
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    first_block_.push_back(static_cast<std::uint32_t>(first_element_.size()));
    for (std::uint32_t b = 0; b < functions[f].blocks.size(); ++b) {
      first_element_.push_back(static_cast<std::uint32_t>(elements_.size()));
      const auto& elements = functions[f].blocks[b].elements;
      for (std::uint32_t e = 0; e < elements.size(); ++e) {
        const auto number = static_cast<std::uint32_t>(elements_.size());
        elements_.push_back({f, b, e});
        first_event_.push_back(static_cast<std::uint32_t>(events_.size()));
        for (const Event& event : elements[e].events) {
          events_.push_back(&event);
          element_of_event_.push_back(number);
        }
      }
    }
  }
  first_block_.push_back(static_cast<std::uint32_t>(first_element_.size()));
  first_element_.push_back(static_cast<std::uint32_t>(elements_.size()));
  first_event_.push_back(static_cast<std::uint32_t>(events_.size()));
}

void ProgramIndex::group_variants() {
  const auto& functions = program_->functions;
  self_.resize(functions.size());
  std::iota(self_.begin(), self_.end(), 0U);
  std::unordered_map<std::string_view, std::uint32_t> first_with_usr;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> groups;
  first_with_usr.reserve(functions.size());
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    if (functions[f].usr.empty()) continue;
    auto [first, fresh] = first_with_usr.try_emplace(functions[f].usr, f);
    if (fresh) continue;
    auto& group = groups[functions[f].usr];
    if (group.empty()) group.push_back(first->second);
    group.push_back(f);
  }
  for (const auto& [usr, group] : groups)
    for (std::uint32_t member : group) variants_[functions[member].id] = group;
}

std::uint32_t ProgramIndex::find(FunctionId id) const {
  const auto at = program_->position(id);
  return at ? static_cast<std::uint32_t>(*at) : kNone;
}

std::span<const std::uint32_t> ProgramIndex::variants(FunctionId id) const {
  if (auto several = variants_.find(id); several != variants_.end()) return several->second;
  const std::uint32_t only = find(id);
  if (only == kNone) return {};
  return {&self_[only], 1};
}

std::vector<FunctionId> ProgramIndex::identities(std::uint32_t function) const {
  std::vector<FunctionId> ids;
  for (std::uint32_t variant : variants(this->function(function).id))
    ids.push_back(this->function(variant).id);
  return ids;
}

Range ProgramIndex::elements_of(std::uint32_t function) const {
  return {first_element_[first_block_[function]], first_element_[first_block_[function + 1]]};
}

Range ProgramIndex::events_of(std::uint32_t function) const {
  const Range elements = elements_of(function);
  return {first_event_[elements.begin], first_event_[elements.end]};
}

Range ProgramIndex::elements_of_block(std::uint32_t function, std::uint32_t block) const {
  const std::uint32_t flat = first_block_[function] + block;
  return {first_element_[flat], first_element_[flat + 1]};
}

const Element& ProgramIndex::element(std::uint32_t number) const {
  const ElementRef& at = elements_[number];
  return program_->functions[at.function].blocks[at.block].elements[at.index];
}

std::uint32_t ProgramIndex::block_position(std::uint32_t function, std::uint32_t ordinal) const {
  const auto& blocks = this->function(function).blocks;
  if (ordinal < blocks.size() && blocks[ordinal].ordinal == ordinal) return ordinal;
  const auto at =
      std::lower_bound(blocks.begin(), blocks.end(), ordinal,
                       [](const Block& block, std::uint32_t wanted) { return block.ordinal < wanted; });
  return at != blocks.end() && at->ordinal == ordinal ? static_cast<std::uint32_t>(at - blocks.begin())
                                                      : kNone;
}

}  // namespace simrt::impact
