// Whether a compile unit was optimised. Internal to mapping.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>

namespace simrt::analysis {

/// gcc writes its options into the unit's producer. Clang describes all calls of a function when it optimises
/// (CGDebugInfo::getCallSiteRelatedAttrs), unless it was told to write line tables only: a unit without any
/// type or variable counts as optimised, too.
class OptimisationSigns {
 public:
  /// `producer` outlives the object.
  explicit OptimisationSigns(llvm::StringRef producer);

  /// To be called for every entry of the unit.
  void look_at(const llvm::DWARFDie& die);

  bool gcc() const { return gcc_; }
  bool optimised() const { return gcc_ ? optimised_ : optimised_ || !described_; }

 private:
  bool gcc_;
  bool optimised_ = false;
  bool described_ = false;  // there are types or variables
};

}  // namespace simrt::analysis
