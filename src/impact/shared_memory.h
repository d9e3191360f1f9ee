// Fields that lie in the same bytes: members of a union with all that is inside them, adjacent bit-fields.
// Types are known by name, and fields are one variable a class and field, whatever the object: a class that
// is a member of some union counts as lying in it everywhere.
#pragma once

#include <vector>

#include "model/program.h"

namespace simrt::impact {

/// The fields of one such piece of memory.
struct SharedMemory {
  std::vector<VariableId> members;   ///< in order of the program's variables
  std::vector<VariableId> inner;     ///< those that lie there as part of a member
  std::vector<VariableId> elements;  ///< arrays among them: what they hold lies there
};

/// Those with two fields or more that some code mentions, in a fixed order.
std::vector<SharedMemory> shared_memory(const Program& program);

}  // namespace simrt::impact
