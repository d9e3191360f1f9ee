// A binary's coverage guards as block numbers of the history, computed once a binary and kept there.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/mapping/mapping.h"
#include "history/block_numbers.h"
#include "history/database.h"
#include "model/coverage.h"
#include "support/result.h"

namespace simrt::pipeline {

/// Raised whenever guards are mapped in another way: what was mapped before is mapped again, and coverage
/// that was recorded through it is recorded again.
inline constexpr std::uint32_t kMappingVersion = 4;

/// Guard -> blocks, in the history's numbers. `inherited`: (block without a guard, block it takes its
/// coverage from).
struct NumberedMapping {
  std::vector<std::uint32_t> offsets;  ///< guard g covers blocks[offsets[g] .. offsets[g + 1])
  std::vector<BlockNumber> blocks;
  std::vector<std::pair<BlockNumber, BlockNumber>> inherited;
  /// Blocks of functions in the module about which no guard says anything: they count as covered.
  std::vector<BlockNumber> unknown;
  std::vector<std::uint64_t> functions;  ///< ids of the functions that the module holds, ascending

  /// Blocks that a thread covered which covered these guards (indices beyond the table are ignored).
  BlockSet blocks_of(const std::vector<std::uint32_t>& guards) const;
};

std::string encode(const NumberedMapping& mapping);
/// Empty mapping when the bytes are not one (an older version wrote them): map again.
Result<NumberedMapping> decode_mapping(std::string_view bytes);

/// Maps modules on demand. Not thread-safe.
class GuardMapper {
 public:
  /// Everything outlives the mapper. `points` are parallel to what the numbering knows.
  GuardMapper(history::Database& database, const Program& program, const std::vector<FunctionPoints>& points,
              const history::BlockNumbering& numbering, std::string repository_root, std::int64_t now);

  /// `content` identifies the file's bytes. Errors: Analysis (no debug information, not readable), History.
  Result<const NumberedMapping*> mapping_of(const analysis::InstrumentedModule& module,
                                            std::uint64_t content);

  /// Sums of the modules mapped in this run (those taken from the history are not counted again).
  const analysis::MappingReport& report() const { return report_; }

 private:
  Result<NumberedMapping> map(const analysis::InstrumentedModule& module);

  history::Database& database_;
  const Program& program_;
  const std::vector<FunctionPoints>& points_;
  const history::BlockNumbering& numbering_;
  std::string root_;
  std::int64_t now_;
  std::uint64_t program_key_;
  std::map<std::string, NumberedMapping> known_;
  analysis::MappingReport report_;
};

}  // namespace simrt::pipeline
