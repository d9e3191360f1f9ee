#include "analysis/mapping/optimisation_signs.h"

#include <llvm/ADT/SmallVector.h>

namespace simrt::analysis {

namespace dwarf = llvm::dwarf;

OptimisationSigns::OptimisationSigns(llvm::StringRef producer) : gcc_(producer.starts_with("GNU ")) {
  if (!gcc_) return;
  llvm::SmallVector<llvm::StringRef, 32> words;
  producer.split(words, ' ');
  for (const llvm::StringRef word : words)
    if (word.starts_with("-O")) optimised_ = word != "-O0";  // the last one holds
}

void OptimisationSigns::look_at(const llvm::DWARFDie& die) {
  if (gcc_ || (optimised_ && described_)) return;
  switch (die.getTag()) {
    case dwarf::DW_TAG_subprogram:
      optimised_ |= die.find({dwarf::DW_AT_call_all_calls, dwarf::DW_AT_GNU_all_call_sites}).has_value();
      break;
    case dwarf::DW_TAG_base_type:
    case dwarf::DW_TAG_class_type:
    case dwarf::DW_TAG_formal_parameter:
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_variable:
      described_ = true;
      break;
    default:
      break;
  }
}

}  // namespace simrt::analysis
