// The part of a module's ELF and DWARF that mapping needs, flattened into sorted arrays so that 100,000
// look-ups cost milliseconds. LLVM stays behind this header; the repository and the facts are unknown here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"

namespace simrt::analysis {

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// A function as DWARF declares it; inlined copies and the out-of-line body share one entry.
struct DebugFunction {
  std::string linkage;  ///< mangled name (DWARF, else the ELF symbol), without clone suffixes; C: plain name
  std::string name;     ///< DW_AT_name, unqualified
  std::uint32_t file = kNone;  ///< of the declaration; index into DebugInfo::files
  std::uint32_t line = 0;
  std::uint32_t unit = kNone;  ///< index into DebugInfo::files: main source of its compile unit
  bool gcc = false;            ///< compiled by gcc, else by clang
  bool optimised = false;      ///< compiled with more than -O0, as far as its unit tells
};

/// One level of inlining. The position of the call lies in the parent's function.
struct DebugFrame {
  std::uint32_t function = kNone;
  std::uint32_t parent = kNone;  ///< index into DebugInfo::frames; kNone: the out-of-line body itself
  std::uint32_t copy = 0;        ///< which compiled copy of the function; its address ranges share the number
  std::uint32_t call_file = kNone;
  std::uint32_t call_line = 0, call_column = 0;
};

/// Code from `begin` to the next scope's begin runs in `frame`, the innermost one; `owner` is the function
/// whose symbol contains it. kNone: a gap between functions.
struct DebugScope {
  std::uint64_t begin = 0;
  std::uint32_t frame = kNone;
  std::uint32_t owner = kNone;
  std::uint64_t owner_begin = 0, owner_end = 0;  ///< the owner's address range around `begin`
  bool owner_entry = false;                      ///< that range holds the owner's entry (not a cold part)
};

struct DebugRow {
  std::uint64_t address = 0;
  std::uint32_t line = 0;    ///< 0 = compiler-generated
  std::uint32_t column = 0;  ///< 0 = unknown
  std::uint32_t file = kNone;
  bool end = false;  ///< first address behind a sequence
};

struct DebugInfo {
  std::vector<std::string> files;  ///< as recorded, compilation directory applied; may be relative
  std::vector<DebugFunction> functions;
  std::vector<DebugFrame> frames;
  std::vector<DebugScope> scopes;  ///< ascending begin
  std::vector<DebugRow> rows;      ///< ascending address

  /// The scope that contains `address`; null in a gap.
  const DebugScope* scope_at(std::uint64_t address) const;
  /// Index of the row that covers `address`; kNone when none does.
  std::uint32_t row_at(std::uint64_t address) const;
};

/// Loads the compile units that contain at least one of `addresses` (ascending). Follows split DWARF where
/// the .dwo files are found. A module without DWARF yields empty tables. Errors: Analysis, when the file is
/// missing or no ELF file.
Result<DebugInfo> load_debug_info(const std::string& path, const std::vector<std::uint64_t>& addresses);

}  // namespace simrt::analysis
