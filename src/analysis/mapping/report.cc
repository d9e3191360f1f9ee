// How good a mapping is: counts, examples, and the consistency check against a real run.
#include "analysis/mapping/report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/mapping/dominators.h"

namespace simrt::analysis {

void add_example(std::vector<std::string>& examples, std::string text) {
  constexpr std::size_t kMaxExamples = 20;
  if (examples.size() < kMaxExamples) examples.push_back(std::move(text));
}

std::string describe_block(const FunctionFacts& function, std::uint32_t ordinal,
                           const FunctionPoints* points) {
  std::string text = function.name + " block " + std::to_string(ordinal) + " (" + function.file;
  if (points != nullptr) {
    for (const BlockPoints& block : points->blocks) {
      if (block.ordinal == ordinal && !block.points.empty()) {
        text += ":" + std::to_string(block.points.front().line) + ":" +
                std::to_string(block.points.front().column);
      }
    }
  }
  return text + ")";
}

void MappingReport::add(const MappingReport& other) {
  functions += other.functions;
  optimised_functions += other.optimised_functions;
  blocks += other.blocks;
  mapped += other.mapped;
  inherited += other.inherited;
  unmapped += other.unmapped;
  guards += other.guards;
  foreign_guards += other.foreign_guards;
  ambiguous_guards += other.ambiguous_guards;
  dominator_checks += other.dominator_checks;
  dominator_violations += other.dominator_violations;
  for (const std::string& example : other.examples) add_example(examples, example);
  for (const std::string& violation : other.violations) add_example(violations, violation);
}

std::vector<DominatorPair> dominator_pairs(const ModuleMapping& mapping, const Program& program) {
  struct State {
    bool certain = false, doubtful = false;
  };
  std::map<FunctionId, std::map<std::uint32_t, State>> functions;
  for (const GuardBlocks& guard : mapping.guards) {
    for (BlockId block : guard.blocks) {
      const bool doubtful = std::binary_search(guard.doubtful.begin(), guard.doubtful.end(), block);
      State& state = functions[block.function][block.ordinal];
      (doubtful ? state.doubtful : state.certain) = true;
    }
  }
  std::vector<DominatorPair> pairs;
  for (const auto& [id, states] : functions) {
    const FunctionFacts* facts = program.function(id);
    if (facts == nullptr) continue;
    const Dominators dominators(*facts);
    for (const auto& [ordinal, state] : states) {
      if (!state.certain) continue;
      auto certain = [&states = states](std::uint32_t other) {
        auto found = states.find(other);
        return found != states.end() && found->second.certain;
      };
      std::optional<std::uint32_t> dominator = dominators.parent(ordinal);
      while (dominator && !certain(*dominator)) dominator = dominators.parent(*dominator);
      if (dominator) pairs.push_back({{id, ordinal}, {id, *dominator}, !state.doubtful});
    }
  }
  return pairs;
}

void count_check(MappingReport& report, const Program& program, const DominatorPair& pair, bool violated) {
  ++report.dominator_checks;
  if (!violated) return;
  ++report.dominator_violations;
  const FunctionFacts* facts = program.function(pair.block.function);
  if (facts != nullptr)
    add_example(report.violations, "covered without its dominator " + std::to_string(pair.dominator.ordinal) +
                                       ": " + describe_block(*facts, pair.block.ordinal, nullptr));
}

void check_dominators(ModuleMapping& mapping, const Program& program, const std::vector<bool>& covered) {
  std::set<BlockId> any, certain;
  for (std::size_t i = 0; i < mapping.guards.size() && i < covered.size(); ++i) {
    if (!covered[i]) continue;
    const GuardBlocks& guard = mapping.guards[i];
    for (BlockId block : guard.blocks) {
      any.insert(block);
      if (!std::binary_search(guard.doubtful.begin(), guard.doubtful.end(), block)) certain.insert(block);
    }
  }
  for (const DominatorPair& pair : dominator_pairs(mapping, program))
    if (certain.count(pair.block) != 0)
      count_check(mapping.report, program, pair, any.count(pair.dominator) == 0);
}

}  // namespace simrt::analysis
