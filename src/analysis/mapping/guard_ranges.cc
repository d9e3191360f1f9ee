#include "analysis/mapping/guard_ranges.h"

#include <algorithm>

namespace simrt::analysis {
namespace {

using Pieces = std::map<std::uint32_t, std::vector<CodePiece>>;

CodePiece& piece_of(Pieces& pieces, std::uint32_t guard, const DebugFrame& frame) {
  std::vector<CodePiece>& list = pieces[frame.function];
  for (auto it = list.rbegin(); it != list.rend() && it->guard == guard; ++it) {
    if (it->copy == frame.copy) return *it;
  }
  list.push_back({guard, frame.copy, frame.parent != kNone, {}});
  return list.back();
}

/// The row with which the block of a guard begins. gcc gives some calls of the callback no position of their
/// own: they stand in the row of the code above, which belongs to another block.
std::size_t first_row(const Guard& guard, const DebugInfo& info) {
  const std::size_t row = info.row_at(guard.pc);
  const bool of_code_above = row != kNone && info.rows[row].address < guard.pc &&
                             row + 1 < info.rows.size() && info.rows[row + 1].address <= guard.code;
  return of_code_above ? row + 1 : row;
}

/// Adds the rows from the guard's on to `end`, which starts in `scope`, to the pieces of the functions they
/// belong to.
void cut_guard(std::uint32_t guard, std::size_t row, std::uint64_t begin, std::uint64_t end,
               const DebugScope& scope, const DebugInfo& info, Pieces& pieces) {
  // The guard's own function has a piece even when no row speaks of it.
  std::uint32_t body = scope.frame;
  while (info.frames[body].parent != kNone) body = info.frames[body].parent;
  piece_of(pieces, guard, info.frames[body]);

  if (row == kNone) return;
  for (; row < info.rows.size() && info.rows[row].address < end; ++row) {
    const DebugRow& position = info.rows[row];
    const DebugScope* here = position.end ? nullptr : info.scope_at(std::max(position.address, begin));
    if (here == nullptr) continue;
    std::uint32_t file = position.file;
    SourcePoint at{position.line, position.column};
    // In the callers the code stands where the inlined call stands.
    for (std::uint32_t frame = here->frame; frame != kNone; frame = info.frames[frame].parent) {
      const DebugFrame& level = info.frames[frame];
      CodePiece& piece = piece_of(pieces, guard, level);
      if (at.line != 0) piece.positions.emplace_back(file, at);
      file = level.call_file;
      at = {level.call_line, level.call_column};
    }
  }
}

}  // namespace

std::vector<Guard> find_guards(const InstrumentedModule& module, const ObjectFile& object) {
  std::vector<Guard> guards;
  if (!module.pc_list_only) {
    for (std::uint32_t i = 0; i < module.pcs.size(); ++i) {
      guards.push_back(
          {module.pcs[i], i, i < module.entry.size() && module.entry[i], object.behind_store(module.pcs[i])});
    }
  } else {
    std::map<std::uint64_t, std::uint32_t> index_of;
    for (std::uint32_t i = 0; i < module.pcs.size(); ++i) index_of.try_emplace(module.pcs[i], i);
    for (const TraceCall& call : object.trace_calls(module.pcs)) {
      auto known = index_of.find(call.end);
      guards.push_back({call.begin, known == index_of.end() ? kNone : known->second, false, call.end});
      if (known != index_of.end()) index_of.erase(known);
    }
    // Return addresses without a recognised call instruction: still look-ups in their own right.
    for (const auto& [pc, index] : index_of) guards.push_back({pc - 1, index, false, pc});
  }
  std::stable_sort(guards.begin(), guards.end(), [](const Guard& a, const Guard& b) { return a.pc < b.pc; });
  return guards;
}

std::map<std::uint32_t, std::vector<CodePiece>> cut_pieces(std::vector<Guard>& guards,
                                                           const DebugInfo& info) {
  std::map<std::uint32_t, std::vector<CodePiece>> pieces;
  const bool marked =
      std::any_of(guards.begin(), guards.end(), [](const Guard& guard) { return guard.entry; });
  for (std::uint32_t i = 0; i < guards.size(); ++i) {
    Guard& guard = guards[i];
    const DebugScope* scope = info.scope_at(guard.pc);
    if (scope == nullptr) continue;
    const bool first = i == 0 || guards[i - 1].pc < scope->owner_begin;
    if (!marked && first && scope->owner_entry) guard.entry = true;
    std::uint64_t end = scope->owner_end;
    if (i + 1 < guards.size()) end = std::min(end, std::max(guards[i + 1].pc, guard.pc + 1));
    cut_guard(i, first_row(guard, info), guard.pc, end, *scope, info, pieces);
  }
  for (auto& [function, list] : pieces) {
    for (CodePiece& piece : list) {
      std::sort(piece.positions.begin(), piece.positions.end());
      piece.positions.erase(std::unique(piece.positions.begin(), piece.positions.end()),
                            piece.positions.end());
    }
  }
  return pieces;
}

}  // namespace simrt::analysis
