// Which identifiers a set of headers asks about in its preprocessor conditions.
#pragma once

#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <functional>
#include <memory>

namespace simrt::analysis {

/// Callbacks that report every identifier of #if, #ifdef, #ifndef, #elif and defined(), with its place.
/// Conditions of skipped groups are not seen; they cannot matter unless an outer one, which is seen, changes.
std::unique_ptr<clang::PPCallbacks> collect_conditions(
    clang::Preprocessor& preprocessor,
    std::function<void(llvm::StringRef name, clang::SourceLocation at)> report);

}  // namespace simrt::analysis
