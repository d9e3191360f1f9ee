// Facts as stable, readable text: for tests and for looking at what the analysis sees.
#pragma once

#include <string>

#include "model/facts.h"

namespace simrt::analysis {

struct DumpOptions {
  bool hashes = false;  ///< element, body and signature hashes
  bool points = false;  ///< source points of blocks
};

/// One function, a line an event; variables by name as `unit.variables` gives them.
std::string dump_function(const FunctionFacts& function, const UnitFacts& unit,
                          const DumpOptions& options = {});
/// All functions, then all variables.
std::string dump_unit(const UnitFacts& unit, const DumpOptions& options = {});
/// One event without its position: "write C::x", "call Direct f(&C::x)".
std::string dump_event(const Event& event, const UnitFacts& unit);

}  // namespace simrt::analysis
