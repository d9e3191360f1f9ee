#include "pipeline/guard_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>

#include "history/mapping_store.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

/// Changes whenever a function the guards could map to changes its body or its place.
std::uint64_t key_of(const Program& program) {
  std::uint64_t key = kMappingVersion;
  for (const FunctionFacts& function : program.functions) {
    key = hash_combine(key, function.id.value);
    key = hash_combine(key, function.body);
    key = hash_combine(key, function.begin_line);
  }
  return key;
}

std::vector<std::uint64_t> functions_of(const analysis::ModuleMapping& mapping) {
  std::vector<std::uint64_t> ids;
  for (const analysis::GuardBlocks& guard : mapping.guards)
    for (BlockId block : guard.blocks) ids.push_back(block.function.value);
  for (BlockId block : mapping.unknown) ids.push_back(block.function.value);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void apply_inheritance(const NumberedMapping& mapping, BlockSet& blocks) {
  BlockSet inherited;
  for (const auto& [block, from] : mapping.inherited)
    if (blocks.contains(from)) inherited.add(block);
  blocks |= inherited;
}

}  // namespace

BlockSet NumberedMapping::blocks_of(const std::vector<std::uint32_t>& guards) const {
  BlockSet covered;
  for (std::uint32_t guard : guards) {
    if (guard + 1 >= offsets.size()) continue;
    covered.addMany(offsets[guard + 1] - offsets[guard], blocks.data() + offsets[guard]);
  }
  apply_inheritance(*this, covered);
  covered.runOptimize();
  return covered;
}

std::string encode(const NumberedMapping& mapping) {
  std::ostringstream out;
  {
    cereal::PortableBinaryOutputArchive archive(out);
    archive(kMappingVersion, mapping.offsets, mapping.blocks, mapping.inherited, mapping.unknown,
            mapping.functions);
  }
  return out.str();
}

Result<NumberedMapping> decode_mapping(std::string_view bytes) {
  NumberedMapping mapping;
  try {
    std::istringstream in{std::string(bytes)};
    cereal::PortableBinaryInputArchive archive(in);
    std::uint32_t version = 0;
    archive(version);
    if (version != kMappingVersion) return fail(ErrorCode::History, "stored mapping has another version");
    archive(mapping.offsets, mapping.blocks, mapping.inherited, mapping.unknown, mapping.functions);
  } catch (const std::exception& error) {
    return fail(ErrorCode::History, fmt::format("stored mapping is damaged: {}", error.what()));
  }
  const bool sorted = std::is_sorted(mapping.offsets.begin(), mapping.offsets.end());
  if (!sorted || (!mapping.offsets.empty() && mapping.offsets.back() > mapping.blocks.size()))
    return fail(ErrorCode::History, "stored mapping is damaged");
  return mapping;
}

GuardMapper::GuardMapper(history::Database& database, const Program& program,
                         const std::vector<FunctionPoints>& points, const history::BlockNumbering& numbering,
                         std::string repository_root, std::int64_t now)
    : database_(database),
      program_(program),
      points_(points),
      numbering_(numbering),
      root_(std::move(repository_root)),
      now_(now),
      program_key_(key_of(program)) {}

Result<const NumberedMapping*> GuardMapper::mapping_of(const analysis::InstrumentedModule& module,
                                                       std::uint64_t content) {
  const std::string key = fmt::format("{:016x}-{:016x}", content, program_key_);
  if (const auto found = known_.find(key); found != known_.end()) return &found->second;
  const auto stored = history::find_mapping(database_, key);
  if (stored && *stored)
    if (auto decoded = decode_mapping(**stored))
      return &known_.emplace(key, std::move(*decoded)).first->second;
  auto mapped = map(module);
  if (!mapped) return fail(mapped.error());
  if (Status done = history::put_mapping(database_, key, encode(*mapped), now_); !done)
    return fail(done.error());
  return &known_.emplace(key, std::move(*mapped)).first->second;
}

Result<NumberedMapping> GuardMapper::map(const analysis::InstrumentedModule& module) {
  const auto mapped = analysis::map_module(module, root_, program_, points_);
  if (!mapped) return fail(mapped.error());
  report_.add(mapped->report);
  NumberedMapping numbered;
  numbered.offsets.push_back(0);
  for (const analysis::GuardBlocks& guard : mapped->guards) {
    for (BlockId block : guard.blocks)
      if (const auto number = numbering_.number(block)) numbered.blocks.push_back(*number);
    numbered.offsets.push_back(static_cast<std::uint32_t>(numbered.blocks.size()));
  }
  for (const auto& [block, from] : mapped->inherited) {
    const auto number = numbering_.number(block), source = numbering_.number(from);
    if (number && source) numbered.inherited.emplace_back(*number, *source);
  }
  for (BlockId block : mapped->unknown)
    if (const auto number = numbering_.number(block)) numbered.unknown.push_back(*number);
  numbered.functions = functions_of(*mapped);
  return numbered;
}

}  // namespace simrt::pipeline
