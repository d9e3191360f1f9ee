#include "analysis/mapping/display_name.h"

#include <llvm/Demangle/Demangle.h>

#include <cstdlib>

namespace simrt::analysis {

std::string display_name(const std::string& linkage) {
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(linkage.c_str())) return linkage;
  auto take = [](char* text) {
    std::string result = text == nullptr ? "" : text;
    std::free(text);
    return result;
  };
  if (!demangler.isFunction()) return llvm::demangle(linkage);
  const std::string base = take(demangler.getFunctionBaseName(nullptr, nullptr));
  const std::string context = take(demangler.getFunctionDeclContextName(nullptr, nullptr));
  if (base.empty()) return linkage;
  return context.empty() ? base : context + "::" + base;
}

}  // namespace simrt::analysis
