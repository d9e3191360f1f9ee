// CFGs written down as text, and diffs as text, so that a test case reads like the change it is about.
#pragma once

#include <string>
#include <vector>

#include "model/change.h"
#include "model/program.h"

namespace simrt::diff {

/// One function from lines of these forms ("#" starts a comment; the highest ordinal is the entry, the lowest
/// the exit):
///   params a:int b:long
///   locals x:int s:int!              "!" = static storage
///   4: $x = f($a); use($x) | if T>3 F>2
///   3: ++n | >1                      a fall-through edge
///   2: | switch 1>5 2>6 default>7    case labels
///   8: | try catch.E>9               a handler for E
/// "$name" is a local; a leading "$x =" defines it. The elements' hash does not see the names.
FunctionFacts parse_cfg(const std::string& usr, const std::string& text);

/// Sets FunctionFacts::body from blocks and locals (locals by order of appearance).
void hash_body(FunctionFacts& function);

/// A program of these functions.
Program program_of(std::vector<FunctionFacts> functions);

/// The diff of two versions of function "f" (a line a block of the new version, descending ordinal):
///   "4<4: $x = f($a)=, use($x)~" where = is Same, ~ Altered, + Added; "!" after the ordinal is dangerous.
/// Then "removed: ..." and "dangerous: ..." where there are any. "unchanged" without a diff.
std::string diff_text(const FunctionFacts& before, const FunctionFacts& after, bool resync = true);

/// The element's source, as parse_cfg() was given it.
const std::string& text_of(const Element& element);

}  // namespace simrt::diff
