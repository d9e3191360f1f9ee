// Binds the parts: guards to code pieces, debug functions to facts, positions to blocks, and the rest to
// dominators.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "analysis/mapping/compiled_copy.h"
#include "analysis/mapping/debug_info.h"
#include "analysis/mapping/dominators.h"
#include "analysis/mapping/function_match.h"
#include "analysis/mapping/guard_ranges.h"
#include "analysis/mapping/mapping.h"
#include "analysis/mapping/object_file.h"
#include "analysis/mapping/placement.h"
#include "analysis/mapping/report.h"
#include "analysis/mapping/source_files.h"
#include "analysis/mapping/source_paths.h"

namespace simrt::analysis {
namespace {

class Mapper {
 public:
  Mapper(const std::string& root, const Program& program, const std::vector<FunctionPoints>& points)
      : program_(program), matcher_(program), paths_(root, source_files(program)) {
    for (const FunctionPoints& entry : points) points_.try_emplace(entry.function, &entry);
  }

  ModuleMapping map(std::size_t pcs, std::vector<Guard> guards, const DebugInfo& info) {
    info_ = &info;
    files_.assign(info.files.size(), std::nullopt);
    auto pieces = cut_pieces(guards, info);
    guards_ = std::move(guards);
    placed_.assign(guards_.size(), {});
    for (const auto& [function, list] : pieces) place_function(info.functions[function], list);
    for (auto& [id, copies] : copies_) finish_function(*program_.function(id), copies);
    collect_guards(pcs);
    return std::move(mapping_);
  }

 private:
  /// What is known of one guard while its pieces are placed one after the other.
  struct Placed {
    std::map<BlockId, bool> blocks;  // -> certain
    bool of_program = false;
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

  const BlockTable& table_of(FunctionId id, bool gcc) {
    auto& tables = tables_[gcc ? 1 : 0];
    auto found = tables.find(id);
    if (found != tables.end()) return found->second;
    const FunctionPoints* points = points_of(id);
    return tables.try_emplace(id, points == nullptr ? FunctionPoints{} : *points, gcc).first->second;
  }

  std::vector<SourcePoint> positions_in(const CodePiece& piece, const std::string& file) {
    std::vector<SourcePoint> result;
    for (const auto& [index, position] : piece.positions) {
      if (file_name(index) == file) result.push_back(position);
    }
    return result;
  }

  void place_function(const DebugFunction& function, const std::vector<CodePiece>& pieces) {
    if (FunctionMatcher::is_static_initialiser(function)) return place_initialisers(pieces, function);
    Candidates candidates = matcher_.match(function, file_name(function.file), file_name(function.unit));
    if (candidates.size() > 1 && !function.optimised) candidates = best_fit(candidates, pieces, function.gcc);
    std::map<std::uint32_t, std::vector<const CodePiece*>> by_copy;
    for (const CodePiece& piece : pieces) by_copy[piece.copy].push_back(&piece);
    for (const FunctionFacts* facts : candidates) {
      for (const auto& [number, own] : by_copy) {
        std::vector<std::vector<SourcePoint>> positions;
        for (const CodePiece* piece : own) {
          positions.push_back(positions_in(*piece, facts->file));
          placed_[piece->guard].of_program = true;
        }
        CompiledCopy& copy = copies_[facts->id].emplace_back(*facts);
        const bool certain = candidates.size() == 1 && !function.optimised;
        copy.place(table_of(facts->id, function.gcc), guards_, own, positions, certain);
        if (!function.optimised) continue;
        optimised_.insert(facts->id);
        for (const CodePiece* piece : own) copy.mark_entry(piece->guard);
      }
    }
  }

  /// Variants of one function that nothing else tells apart: those whose positions fit the code best.
  Candidates best_fit(const Candidates& candidates, const std::vector<CodePiece>& pieces, bool gcc) {
    Candidates best;
    std::size_t best_score = 0;
    for (const FunctionFacts* facts : candidates) {
      const BlockTable& table = table_of(facts->id, gcc);
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

  /// One compiler-made function holds the initialisers of many variables; each position finds its own.
  void place_initialisers(const std::vector<CodePiece>& pieces, const DebugFunction& function) {
    for (const CodePiece& piece : pieces) {
      std::map<std::uint32_t, std::vector<SourcePoint>> by_file;
      for (const auto& [file, position] : piece.positions) by_file[file].push_back(position);
      for (const auto& [file, positions] : by_file) {
        for (const FunctionFacts* facts : matcher_.static_initialisers(file_name(file))) {
          const Placement placement = table_of(facts->id, function.gcc).place(positions);
          if (placement.blocks.empty()) continue;
          if (function.optimised) optimised_.insert(facts->id);
          placed_[piece.guard].of_program = true;
          std::vector<CompiledCopy>& copies = copies_[facts->id];
          if (copies.empty()) copies.emplace_back(*facts);
          copies.front().mark_entry(piece.guard);
          for (std::uint32_t ordinal : placement.blocks) {
            copies.front().mark(ordinal, piece.guard, placement.certain);
          }
        }
      }
    }
  }

  void collect_guards(std::size_t pcs) {
    mapping_.guards.resize(pcs);
    MappingReport& report = mapping_.report;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
      GuardBlocks guard;
      for (const auto& [block, certain] : placed_[i].blocks) {
        guard.blocks.push_back(block);
        if (!certain) guard.doubtful.push_back(block);
      }
      ++report.guards;
      if (!placed_[i].of_program) ++report.foreign_guards;
      if (!guard.doubtful.empty()) ++report.ambiguous_guards;
      if (guards_[i].index != kNone) mapping_.guards[guards_[i].index] = std::move(guard);
    }
  }

  /// Gives every block of a function in the module a source of coverage, and counts.
  void finish_function(const FunctionFacts& facts, std::vector<CompiledCopy>& copies) {
    const Dominators dominators(facts);
    std::set<std::uint32_t> guarded;
    for (const CompiledCopy& copy : copies) {
      for (const auto& [ordinal, guards] : copy.marks()) guarded.insert(ordinal);
    }
    for (CompiledCopy& copy : copies) {
      copy.fill_gaps(guarded, dominators);
      for (const auto& [ordinal, guards] : copy.marks()) {
        for (const auto& [guard, certain] : guards) placed_[guard].blocks[{facts.id, ordinal}] |= certain;
      }
    }
    inherit(facts, dominators, guarded);
  }

  /// Optimised code joins calls of two branches into one without a place (SimplifyCFG, gcc's tail merging)
  /// and conditions into a word of bits: what ran may have no guard that says so, however certain others are.
  /// There whoever enters a function covers all of it.
  void inherit(const FunctionFacts& facts, const Dominators& dominators,
               const std::set<std::uint32_t>& guarded) {
    const FunctionPoints* points = points_of(facts.id);
    std::set<std::uint32_t> with_points;
    if (points != nullptr) {
      for (const BlockPoints& block : points->blocks) {
        if (!block.points.empty()) with_points.insert(block.ordinal);
      }
    }
    const bool optimised = optimised_.count(facts.id) != 0;
    MappingReport& report = mapping_.report;
    ++report.functions;
    report.optimised_functions += optimised ? 1 : 0;
    for (const Block& block : facts.blocks) {
      if (optimised && block.ordinal != facts.entry)
        mapping_.inherited.push_back({{facts.id, block.ordinal}, {facts.id, facts.entry}});
      const bool executable = !block.elements.empty() && with_points.count(block.ordinal) != 0 &&
                              dominators.reachable(block.ordinal);
      report.blocks += executable ? 1 : 0;
      if (guarded.count(block.ordinal) != 0) {
        report.mapped += executable ? 1 : 0;
        continue;
      }
      std::optional<std::uint32_t> source = dominators.parent(block.ordinal);
      while (source && guarded.count(*source) == 0) source = dominators.parent(*source);
      if (!source && guarded.count(facts.entry) != 0) source = facts.entry;
      if (source && !optimised)
        mapping_.inherited.push_back({{facts.id, block.ordinal}, {facts.id, *source}});
      if (!source) mapping_.unknown.push_back({facts.id, block.ordinal});
      if (!executable) continue;
      ++(source ? report.inherited : report.unmapped);
      add_example(report.examples, "no guard: " + describe_block(facts, block.ordinal, points));
    }
  }

  const Program& program_;
  FunctionMatcher matcher_;
  SourcePaths paths_;
  std::unordered_map<FunctionId, const FunctionPoints*> points_;
  std::array<std::unordered_map<FunctionId, BlockTable>, 2> tables_;  // of clang's code, of gcc's
  const DebugInfo* info_ = nullptr;
  std::vector<std::optional<std::string>> files_;  // repository-relative, by DebugInfo::files index
  std::vector<Guard> guards_;
  std::vector<Placed> placed_;                              // parallel to guards_
  std::map<FunctionId, std::vector<CompiledCopy>> copies_;  // of the functions in the module
  std::set<FunctionId> optimised_;                          // of those
  ModuleMapping mapping_;
};

}  // namespace

Result<ModuleMapping> map_module(const InstrumentedModule& module, const std::string& repository_root,
                                 const Program& program, const std::vector<FunctionPoints>& points) {
  auto object = ObjectFile::open(module.path);
  if (!object) return fail(object.error());
  std::vector<Guard> guards = find_guards(module, *object);
  std::vector<std::uint64_t> pcs;
  pcs.reserve(guards.size());
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
