// Binds the parts: guards to code pieces, debug functions to facts, positions to blocks, and the rest to
// dominators.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/mapping/debug_info.h"
#include "analysis/mapping/dominators.h"
#include "analysis/mapping/function_match.h"
#include "analysis/mapping/guard_ranges.h"
#include "analysis/mapping/mapping.h"
#include "analysis/mapping/object_file.h"
#include "analysis/mapping/placement.h"
#include "analysis/mapping/report.h"
#include "analysis/mapping/source_paths.h"

namespace simrt::analysis {
namespace {

std::vector<std::string> known_files(const Program& program) {
  std::set<std::string> files;
  for (const FunctionFacts& function : program.functions) files.insert(function.file);
  for (const UnitSummary& unit : program.units) files.insert(unit.path);
  return {files.begin(), files.end()};
}

class Mapper {
 public:
  Mapper(const std::string& root, const Program& program, const std::vector<FunctionPoints>& points)
      : program_(program), matcher_(program), paths_(root, known_files(program)) {
    for (const FunctionPoints& entry : points) points_.try_emplace(entry.function, &entry);
  }

  ModuleMapping map(std::size_t pcs, std::vector<Guard> guards, const DebugInfo& info) {
    info_ = &info;
    files_.assign(info.files.size(), std::nullopt);
    auto pieces = cut_pieces(guards, info);
    guards_ = std::move(guards);
    placed_.assign(guards_.size(), {});
    for (const auto& [function, list] : pieces) place_function(info.functions[function], list);
    collect_guards(pcs);
    for (const auto& [id, blocks] : present_) complete_function(*program_.function(id), blocks);
    return std::move(mapping_);
  }

 private:
  /// What is known of one guard while its pieces are placed one after the other.
  struct Placed {
    std::set<BlockId> blocks;
    bool of_program = false;
    bool uncertain = false;
  };
  using Candidates = std::vector<const FunctionFacts*>;

  const std::string& file_name(std::uint32_t index) {
    static const std::string none;
    if (index == kNone) return none;
    std::optional<std::string>& name = files_[index];
    if (!name) name = paths_.relative(info_->files[index]);
    return *name;
  }

  const FunctionPoints* points_of(FunctionId id) const {
    auto found = points_.find(id);
    return found == points_.end() ? nullptr : found->second;
  }

  const BlockTable& table_of(FunctionId id) {
    auto found = tables_.find(id);
    if (found != tables_.end()) return found->second;
    const FunctionPoints* points = points_of(id);
    return tables_.try_emplace(id, points == nullptr ? FunctionPoints{} : *points).first->second;
  }

  std::vector<SourcePoint> positions_in(const CodePiece& piece, const std::string& file) {
    std::vector<SourcePoint> result;
    for (const auto& [index, position] : piece.positions) {
      if (file_name(index) == file) result.push_back(position);
    }
    return result;
  }

  void place_function(const DebugFunction& function, const std::vector<CodePiece>& pieces) {
    if (FunctionMatcher::is_static_initialiser(function)) return place_initialisers(pieces);
    Candidates candidates = matcher_.match(function, file_name(function.file), file_name(function.unit));
    if (candidates.size() > 1) candidates = best_fit(candidates, pieces);
    for (const FunctionFacts* facts : candidates) {
      present_[facts->id];
      const std::set<std::uint32_t> taken = certain_blocks(*facts, pieces);
      for (const CodePiece& piece : pieces) place_piece(*facts, piece, taken, candidates.size() == 1);
    }
  }

  std::set<std::uint32_t> certain_blocks(const FunctionFacts& facts, const std::vector<CodePiece>& pieces) {
    std::set<std::uint32_t> blocks;
    const BlockTable& table = table_of(facts.id);
    for (const CodePiece& piece : pieces) {
      const Placement placement = table.place(positions_in(piece, facts.file));
      if (placement.certain) blocks.insert(placement.blocks.begin(), placement.blocks.end());
    }
    return blocks;
  }

  /// Variants of one function that nothing else tells apart: those whose positions fit the code best.
  Candidates best_fit(const Candidates& candidates, const std::vector<CodePiece>& pieces) {
    Candidates best;
    std::size_t best_score = 0;
    for (const FunctionFacts* facts : candidates) {
      const BlockTable& table = table_of(facts->id);
      std::size_t score = 0;
      for (const CodePiece& piece : pieces) {
        for (SourcePoint position : positions_in(piece, facts->file))
          score += table.contains(position) ? 1 : 0;
      }
      if (score > best_score) best.clear();
      if (score >= best_score) best.push_back(facts);
      best_score = std::max(best_score, score);
    }
    return best;
  }

  void place_piece(const FunctionFacts& facts, const CodePiece& piece, const std::set<std::uint32_t>& taken,
                   bool only_candidate) {
    const Guard& guard = guards_[piece.guard];
    Placed& placed = placed_[piece.guard];
    placed.of_program = true;
    std::vector<SourcePoint> positions = positions_in(piece, facts.file);
    // The function's own line, without a column, belongs to the prologue.
    if (guard.entry) std::erase_if(positions, [](SourcePoint position) { return position.column == 0; });
    const Placement placement = table_of(facts.id).place(positions, taken);
    auto add = [&](std::uint32_t ordinal) { placed.blocks.insert({facts.id, ordinal}); };
    for (std::uint32_t ordinal : placement.blocks) add(ordinal);
    if (!placement.blocks.empty() && !(placement.certain && only_candidate)) placed.uncertain = true;
    // Whoever runs any part of an inlined function has entered it.
    if (guard.entry || piece.inlined) {
      for (std::uint32_t ordinal : entry_blocks(facts)) add(ordinal);
    }
  }

  /// The entry is empty in Clang's CFG; what follows it unconditionally runs, too.
  static std::vector<std::uint32_t> entry_blocks(const FunctionFacts& facts) {
    std::vector<std::uint32_t> result{facts.entry};
    for (const Block& block : facts.blocks) {
      if (block.ordinal == facts.entry && block.elements.empty() && block.successors.size() == 1) {
        result.push_back(block.successors.front().target);
      }
    }
    return result;
  }

  /// One compiler-made function holds the initialisers of many variables; each position finds its own.
  void place_initialisers(const std::vector<CodePiece>& pieces) {
    for (const CodePiece& piece : pieces) {
      std::map<std::uint32_t, std::vector<SourcePoint>> by_file;
      for (const auto& [file, position] : piece.positions) by_file[file].push_back(position);
      for (const auto& [file, positions] : by_file) {
        for (const FunctionFacts* facts : matcher_.static_initialisers(file_name(file))) {
          const Placement placement = table_of(facts->id).place(positions);
          if (placement.blocks.empty()) continue;
          Placed& placed = placed_[piece.guard];
          placed.of_program = true;
          present_[facts->id];
          for (std::uint32_t ordinal : placement.blocks) placed.blocks.insert({facts->id, ordinal});
          for (std::uint32_t ordinal : entry_blocks(*facts)) placed.blocks.insert({facts->id, ordinal});
          if (!placement.certain) placed.uncertain = true;
        }
      }
    }
  }

  void collect_guards(std::size_t pcs) {
    mapping_.guards.resize(pcs);
    MappingReport& report = mapping_.report;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
      const Placed& placed = placed_[i];
      ++report.guards;
      if (!placed.of_program) ++report.foreign_guards;
      if (placed.uncertain) ++report.ambiguous_guards;
      for (BlockId block : placed.blocks) present_[block.function].insert(block.ordinal);
      if (guards_[i].index == kNone) continue;
      GuardBlocks& guard = mapping_.guards[guards_[i].index];
      guard.blocks.assign(placed.blocks.begin(), placed.blocks.end());
      guard.certain = !placed.uncertain && !placed.blocks.empty();
    }
  }

  /// Gives every block of a function in the module a source of coverage, and counts.
  void complete_function(const FunctionFacts& facts, const std::set<std::uint32_t>& guarded) {
    const Dominators dominators(facts);
    const FunctionPoints* points = points_of(facts.id);
    std::set<std::uint32_t> with_points;
    if (points != nullptr) {
      for (const BlockPoints& block : points->blocks) {
        if (!block.points.empty()) with_points.insert(block.ordinal);
      }
    }
    MappingReport& report = mapping_.report;
    ++report.functions;
    for (const Block& block : facts.blocks) {
      const bool executable = block.ordinal != facts.exit && with_points.count(block.ordinal) != 0 &&
                              dominators.reachable(block.ordinal);
      report.blocks += executable ? 1 : 0;
      if (guarded.count(block.ordinal) != 0) {
        report.mapped += executable ? 1 : 0;
        continue;
      }
      std::optional<std::uint32_t> source = dominators.parent(block.ordinal);
      while (source && guarded.count(*source) == 0) source = dominators.parent(*source);
      if (!source && guarded.count(facts.entry) != 0) source = facts.entry;
      if (source) {
        mapping_.inherited.push_back({{facts.id, block.ordinal}, {facts.id, *source}});
      } else {
        mapping_.unknown.push_back({facts.id, block.ordinal});
      }
      if (!executable) continue;
      ++(source ? report.inherited : report.unmapped);
      add_example(report, "no guard: " + describe_block(facts, block.ordinal, points));
    }
  }

  const Program& program_;
  FunctionMatcher matcher_;
  SourcePaths paths_;
  std::unordered_map<FunctionId, const FunctionPoints*> points_;
  std::unordered_map<FunctionId, BlockTable> tables_;
  const DebugInfo* info_ = nullptr;
  std::vector<std::optional<std::string>> files_;  // repository-relative, by DebugInfo::files index
  std::vector<Guard> guards_;
  std::vector<Placed> placed_;                             // parallel to guards_
  std::map<FunctionId, std::set<std::uint32_t>> present_;  // functions in the module: blocks with a guard
  ModuleMapping mapping_;
};

}  // namespace

Result<ModuleMapping> map_module(const InstrumentedModule& module, const std::string& repository_root,
                                 const Program& program, const std::vector<FunctionPoints>& points) {
  auto object = ObjectFile::open(module.path);
  if (!object) return fail(object.error());
  std::vector<Guard> guards = find_guards(module, *object);
  std::vector<std::uint64_t> pcs;
  for (const Guard& guard : guards) pcs.push_back(guard.pc);
  auto info = load_debug_info(module.path, pcs);
  if (!info) return fail(info.error());
  if (info->functions.empty() && !pcs.empty()) {
    return fail(ErrorCode::Analysis, module.path + ": no debug information for the instrumented code",
                "compile with -g (the simrt compiler wrappers add it) and do not strip the program");
  }
  return Mapper(repository_root, program, points).map(module.pcs.size(), std::move(guards), *info);
}

}  // namespace simrt::analysis
