#include "diff/diff.h"

#include <unordered_map>

#include "diff/function_diff.h"
#include "diff/pairing.h"

namespace simrt::diff {
namespace {

/// Fields by whom they share memory with, in one version.
class Sharing {
 public:
  explicit Sharing(const Program& program) {
    for (const VariableFacts& variable : program.variables)
      if (variable.shares != 0) members_[variable.shares].push_back(variable.id);
  }
  /// Those that `variable` shares with, itself left out, as far as the other version has them, too.
  std::vector<VariableId> partners(const VariableFacts& variable, const Program& other) const {
    std::vector<VariableId> result;
    const auto all = members_.find(variable.shares);
    if (variable.shares == 0 || all == members_.end()) return result;
    for (VariableId member : all->second)
      if (member != variable.id && other.variable(member)) result.push_back(member);
    return result;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<VariableId>> members_;  ///< each ascending
};

std::vector<VariableId> changed_variables(const Program& before, const Program& after) {
  std::vector<VariableId> result;
  const Sharing shared_before(before), shared_after(after);
  auto o = before.variables.begin();
  for (const VariableFacts& now : after.variables) {
    while (o != before.variables.end() && o->id < now.id) ++o;
    if (o == before.variables.end()) break;
    if (o->id != now.id) continue;
    if (o->type != now.type || o->traits != now.traits || o->kind != now.kind ||
        shared_before.partners(*o, after) != shared_after.partners(now, before))
      result.push_back(now.id);
  }
  return result;
}

FunctionDiff whole(const FunctionPair& pair, FunctionStatus status) {
  FunctionDiff diff;
  if (pair.before) diff.old_id = pair.before->id;
  diff.id = pair.after ? pair.after->id : diff.old_id;
  diff.status = status;
  return diff;
}

}  // namespace

ProgramDiff diff_programs(const Program& before, const Program& after, const DiffOptions& options) {
  ProgramDiff result;
  for (const FunctionPair& pair : pair_functions(before, after, options)) {
    if (!pair.before) {
      result.functions.push_back(whole(pair, FunctionStatus::Added));
    } else if (!pair.after) {
      result.functions.push_back(whole(pair, FunctionStatus::Removed));
    } else if (!unchanged(*pair.before, *pair.after)) {
      result.functions.push_back(diff_function(*pair.before, *pair.after, options.resync));
    } else if (pair.before->id != pair.after->id) {
      result.functions.push_back(whole(pair, FunctionStatus::Unchanged));
    }
  }
  result.variables = changed_variables(before, after);
  return result;
}

}  // namespace simrt::diff
