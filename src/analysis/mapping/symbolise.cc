// Names for PCs: thread creation sites and diagnostics.
#include <algorithm>
#include <optional>

#include "analysis/mapping/debug_info.h"
#include "analysis/mapping/display_name.h"
#include "analysis/mapping/mapping.h"
#include "analysis/mapping/object_file.h"
#include "analysis/mapping/source_paths.h"

namespace simrt::analysis {
namespace {

CodeSite site_at(const DebugInfo& info, const ObjectFile& object, const SourcePaths& paths,
                 std::uint64_t pc) {
  CodeSite site;
  if (const DebugScope* scope = info.scope_at(pc)) {
    const DebugFunction& function = info.functions[info.frames[scope->frame].function];
    site.function = display_name(function.linkage.empty() ? function.name : function.linkage);
  } else if (const FunctionSymbol* symbol = object.symbol_around(pc)) {
    site.function = display_name(symbol->name);
  }
  const std::uint32_t row = info.row_at(pc);
  if (row == kNone) return site;
  site.line = info.rows[row].line;
  if (info.rows[row].file != kNone) {
    const std::string& recorded = info.files[info.rows[row].file];
    const std::string relative = paths.relative(recorded);
    site.file = relative.empty() ? recorded : relative;
  }
  return site;
}

}  // namespace

std::string CodeSite::text() const {
  if (function.empty() && file.empty()) return "?";
  std::string result = function.empty() ? "?" : function;
  if (!file.empty()) result += "@" + file + ":" + std::to_string(line);
  return result;
}

Result<std::vector<CodeSite>> symbolise_all(const std::string& module_path,
                                            const std::vector<std::uint64_t>& offsets,
                                            const std::string& repository_root) {
  auto object = ObjectFile::open(module_path);
  if (!object) return fail(object.error());
  std::vector<std::uint64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  auto info = load_debug_info(module_path, sorted);
  if (!info) return fail(info.error());
  const SourcePaths paths(repository_root, {});
  std::vector<CodeSite> sites;
  sites.reserve(offsets.size());
  for (std::uint64_t pc : offsets) sites.push_back(site_at(*info, *object, paths, pc));
  return sites;
}

std::string symbolise(const std::string& module_path, std::uint64_t offset,
                      const std::string& repository_root) {
  auto sites = symbolise_all(module_path, std::vector<std::uint64_t>{offset}, repository_root);
  return sites ? sites->front().text() : "?";
}

}  // namespace simrt::analysis
