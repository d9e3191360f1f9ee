// Facts and points of one function: its CFG as blocks of hashed elements with their events.
#pragma once

#include "analysis/extract/unit.h"
#include "model/facts.h"

namespace simrt::analysis {

/// The scope's locals grow by one nameless entry for each value that one element computes and another uses.
FunctionFacts function_facts(Unit& unit, FunctionScope& scope, FunctionPoints& points);

}  // namespace simrt::analysis
