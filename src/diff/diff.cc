#include "diff/diff.h"

#include "diff/function_diff.h"
#include "diff/pairing.h"

namespace simrt::diff {
namespace {

std::vector<VariableId> changed_variables(const Program& before, const Program& after) {
  std::vector<VariableId> result;
  auto o = before.variables.begin();
  for (const VariableFacts& now : after.variables) {
    while (o != before.variables.end() && o->id < now.id) ++o;
    if (o == before.variables.end()) break;
    if (o->id == now.id && (o->type != now.type || o->traits != now.traits || o->kind != now.kind))
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
