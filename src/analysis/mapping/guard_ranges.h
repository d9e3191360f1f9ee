// The code behind each guard: from its PC to the next guard of the same function. Internal to mapping.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/mapping/debug_info.h"
#include "analysis/mapping/mapping.h"
#include "analysis/mapping/object_file.h"

namespace simrt::analysis {

/// A guard in the code. With gcc the code is searched for guards, so there are more of them than PCs were
/// hit.
struct Guard {
  std::uint64_t pc = 0;
  std::uint32_t index = kNone;  ///< into InstrumentedModule::pcs; kNone: exists, but was not among them
  bool entry = false;
  std::uint64_t code = 0;  ///< where the block's own code begins: behind the callback's call or store
};

/// The part of a guard's code that belongs to one function: its own, or one inlined there.
struct CodePiece {
  std::uint32_t guard = 0;  ///< index into the guards
  std::uint32_t copy = 0;   ///< DebugFrame::copy
  bool inlined = false;
  std::vector<std::pair<std::uint32_t, SourcePoint>> positions;  ///< (file index, line and column), unique
};

/// All guards of a module, ascending PC.
std::vector<Guard> find_guards(const InstrumentedModule& module, const ObjectFile& object);

/// The pieces of every guard, by function (index into DebugInfo::functions). Also finds the entry guards of
/// modules whose table does not mark them.
std::map<std::uint32_t, std::vector<CodePiece>> cut_pieces(std::vector<Guard>& guards, const DebugInfo& info);

}  // namespace simrt::analysis
