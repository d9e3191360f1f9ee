// A small text form of FunctionFacts, so that tests read like the code they stand for, and a differ for it
// that takes blocks by label and statements by text (or by `#tag`, which makes a changed text an alteration).
//
//   var Counter::value_ int              # kind by name: Class::x field, x global; traits after the type,
//                                        # shares=NAME: same memory as others of that NAME
//   fn Counter::Add(amount) g x %v       # parameters, locals, values (locals without a name: %); flags:
//   !lambda !ctor !dtor B2 -> B1                             # blocks from the entry down; B0 is the exit;
//   "B3 -> B2 T, B1 F"; "B4=B1 -> .." maps
//     guard g this.Counter::mu_          # one statement a line, events divided by ';'
//     #a R this.Counter::value_; W this.Counter::value_
//     text c++ | W local:f:0         # what stands behind '|' happens, but is not in the code: same element
//
// Events: R|W place [order]; lock|slock|unlock|trylock place; guard|sguard|defer g place; gacq|grel g;
// gadopt g place; gmove g source; call|vcall|cb|spawn F(args) [on value]; icall|pcall name(args); bind place
// := value; def x; use x; fence|wait|notify|join|
// detach|once|start|get|set|semacq|semrel|arrive|latch|barrier|static [place|order]; text anything. Places: x
// (local, parameter or global), x* (one load), this.Class::f, x.Class::f; values: place or &place; 0 = none.
#pragma once

#include <string>

#include "model/change.h"
#include "model/program.h"

namespace simrt::impact {

Program parse_program(const std::string& text);

/// Differences by label, tag and text; functions present in one version only are Added or Removed.
ProgramDiff diff_texts(const Program& before, const Program& after);

/// Number of a function by name; fails the test when there is none.
std::uint32_t number_of(const Program& program, const std::string& name);

}  // namespace simrt::impact
