#include "analysis/mapping/compiled_copy.h"

namespace simrt::analysis {

CompiledCopy::CompiledCopy(const FunctionFacts& facts) : entry_{facts.entry} {
  // Clang's entry block is empty.
  for (const Block& block : facts.blocks) {
    if (block.ordinal == facts.entry && block.elements.empty() && block.successors.size() == 1) {
      entry_.push_back(block.successors.front().target);
    }
  }
}

void CompiledCopy::mark(std::uint32_t ordinal, std::uint32_t guard, bool certain) {
  marks_[ordinal][guard] |= certain;
}

void CompiledCopy::mark_entry(std::uint32_t guard) {
  for (std::uint32_t ordinal : entry_) mark(ordinal, guard, true);
}

void CompiledCopy::place(const BlockTable& table, const std::vector<Guard>& guards,
                         const std::vector<const CodePiece*>& pieces,
                         const std::vector<std::vector<SourcePoint>>& positions, bool certain) {
  std::set<std::uint32_t> taken;
  for (const std::vector<SourcePoint>& here : positions) {
    const Placement placement = table.place(here);
    if (placement.certain) taken.insert(placement.blocks.begin(), placement.blocks.end());
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint32_t guard = pieces[i]->guard;
    std::vector<SourcePoint> here = positions[i];
    // The function's own line, without a column, belongs to the prologue.
    if (guards[guard].entry) std::erase_if(here, [](SourcePoint position) { return position.column == 0; });
    const Placement placement = table.place(here, taken);
    for (std::uint32_t ordinal : placement.blocks) mark(ordinal, guard, placement.certain && certain);
    // Whoever runs any part of an inlined function has entered it.
    if (guards[guard].entry || pieces[i]->inlined) mark_entry(guard);
  }
  add_shared(table, pieces, positions);
}

/// A block that lost every vote but has a position in common with code that is there: the compiler joined it
/// with its neighbour (`false || x` of a branch hint), or a macro hides the difference. All guards with that
/// position count.
void CompiledCopy::add_shared(const BlockTable& table, const std::vector<const CodePiece*>& pieces,
                              const std::vector<std::vector<SourcePoint>>& positions) {
  const Marks voted = marks_;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (SourcePoint position : positions[i]) {
      for (std::uint32_t ordinal : table.holders(position)) {
        if (voted.count(ordinal) == 0) mark(ordinal, pieces[i]->guard, false);
      }
    }
  }
}

void CompiledCopy::fill_gaps(const std::set<std::uint32_t>& guarded_elsewhere, const Dominators& dominators) {
  const Marks placed = marks_;
  if (placed.empty()) return;
  for (std::uint32_t ordinal : guarded_elsewhere) {
    if (placed.count(ordinal) != 0) continue;
    std::optional<std::uint32_t> source = dominators.parent(ordinal);
    while (source && placed.count(*source) == 0) source = dominators.parent(*source);
    if (!source && placed.count(entry_.front()) != 0) source = entry_.front();
    for (const auto& [from, guards] : placed) {
      if (source && from != *source) continue;
      for (const auto& [guard, certain] : guards) mark(ordinal, guard, false);
    }
  }
}

}  // namespace simrt::analysis
