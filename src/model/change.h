// What changed between two revisions: first as files (from git), then as CFG blocks (from the walk).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"

namespace simrt {

enum class FileStatus : std::uint8_t { Added, Deleted, Modified, Renamed, TypeChanged };

struct Hunk {
  std::uint32_t old_line = 0, old_count = 0, new_line = 0, new_count = 0;
};

struct FileChange {
  FileStatus status = FileStatus::Modified;
  std::string old_path;  ///< empty when added
  std::string new_path;  ///< empty when deleted
  std::vector<Hunk> hunks;
};

enum class FunctionStatus : std::uint8_t { Unchanged, Changed, Added, Removed };

inline constexpr std::uint32_t kNoMatch = UINT32_MAX;

enum class ElementStatus : std::uint8_t { Same, Altered, Added };

/// One element of the new version. `old_block`/`old_element` are its partner (Same, Altered) or kNoMatch.
struct ElementDiff {
  ElementStatus status = ElementStatus::Same;
  std::uint32_t old_block = kNoMatch;    ///< block ordinal in the old CFG
  std::uint32_t old_element = kNoMatch;  ///< index in that block
};

/// One block of the new version: the old block it maps to (SV field `b`), and its elements.
struct BlockDiff {
  std::uint32_t ordinal = 0;  ///< new CFG
  /// The walk's partner, else the old block where the walk stopped; never a block that a test may have missed
  /// on p although it reaches this one on p' (then: the nearest dominator of which that is certain).
  std::uint32_t old_ordinal = kNoMatch;
  bool dangerous = false;  ///< reached over an edge whose targets differ (DejaVu)
  bool resynced = false;   ///< matched again behind a mismatch (our refinement)
  std::vector<ElementDiff> elements;
};

/// An element of the old version without partner.
struct RemovedElement {
  std::uint32_t block = 0;
  std::uint32_t element = 0;
};

struct FunctionDiff {
  FunctionId id;      ///< in p'; for Removed the id in p
  FunctionId old_id;  ///< in p; differs from id for renamed files; 0 when Added
  FunctionStatus status = FunctionStatus::Unchanged;
  std::vector<BlockDiff> blocks;        ///< Changed only; ascending ordinal
  std::vector<RemovedElement> removed;  ///< Changed only
  std::vector<std::uint32_t>
      dangerous;  ///< Changed only: old blocks at the head of a dangerous edge (RTSC baseline)
};

struct ProgramDiff {
  /// Every function that is not Unchanged, and those that are but moved (id differs from old_id; no blocks,
  /// ordinals as in old_id); ascending id.
  std::vector<FunctionDiff> functions;
  std::vector<VariableId> variables;              ///< in both versions, with another type, traits or storage
  const FunctionDiff* find(FunctionId id) const;  ///< by id in p'
  const FunctionDiff* find_old(FunctionId id) const;  ///< by id in p
};

}  // namespace simrt
