#include "diff/matching.h"

namespace simrt::diff {

Matching::Matching(const FlowGraph& old_graph, const FlowGraph& new_graph)
    : before(old_graph.size()), after(new_graph.size()) {
  for (Position at = 0; at < before.size(); ++at)
    before[at].elements.resize(old_graph.block(at).elements.size());
  for (Position at = 0; at < after.size(); ++at) {
    after[at].elements.resize(new_graph.block(at).elements.size());
    after[at].altered.resize(after[at].elements.size());
  }
}

void Matching::pair_elements(ElementRef old_element, ElementRef new_element, bool altered) {
  before[old_element.block].elements[old_element.element] = new_element;
  after[new_element.block].elements[new_element.element] = old_element;
  after[new_element.block].altered[new_element.element] = altered;
}

void Matching::pair_whole(Position old_block, Position new_block) {
  pair_blocks(old_block, new_block);
  for (std::uint32_t i = 0; i < after[new_block].elements.size(); ++i)
    pair_elements({old_block, i}, {new_block, i}, false);
}

ElementStatus Matching::status(Position new_block, std::uint32_t element) const {
  if (!after[new_block].elements[element]) return ElementStatus::Added;
  return after[new_block].altered[element] ? ElementStatus::Altered : ElementStatus::Same;
}

Position Matching::home(Position new_block) const {
  if (after[new_block].partner != kNowhere) return after[new_block].partner;
  for (const ElementRef& element : after[new_block].elements)
    if (element) return element.block;
  return kNowhere;
}

}  // namespace simrt::diff
