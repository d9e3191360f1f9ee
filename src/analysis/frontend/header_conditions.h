// Which identifiers a set of headers asks about in its preprocessor conditions.
#pragma once

#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <memory>
#include <set>
#include <string>

namespace simrt::analysis {

/// Callbacks that add every identifier of #if, #ifdef, #ifndef, #elif and defined() to `names`. Conditions of
/// skipped groups are not seen; they cannot matter unless an outer one, which is seen, changes.
std::unique_ptr<clang::PPCallbacks> collect_conditions(clang::Preprocessor& preprocessor,
                                                       std::set<std::string>& names);

}  // namespace simrt::analysis
