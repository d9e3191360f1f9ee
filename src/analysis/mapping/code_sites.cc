#include "analysis/mapping/code_sites.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/mapping/debug_info.h"
#include "analysis/mapping/object_file.h"
#include "analysis/mapping/source_paths.h"

namespace simrt::analysis {
namespace {

void sort_unique(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

struct CodeSites::Tables {
  ObjectFile object;
  DebugInfo debug;
  std::vector<std::string> files;  // repository-relative; empty: not of the repository
  // Rows of each of the repository's lines, by file.
  std::map<std::string, std::multimap<std::uint32_t, std::size_t>> rows;

  bool is_ours(std::uint32_t file) const { return file != kNone && !files[file].empty(); }
  void index(std::size_t row);
};

/// A row of a library's header that was inlined counts for the call in the repository's code.
void CodeSites::Tables::index(std::size_t row) {
  const DebugRow& at = debug.rows[row];
  if (is_ours(at.file)) {
    rows[files[at.file]].emplace(at.line, row);
    return;
  }
  const DebugScope* scope = debug.scope_at(at.address);
  for (std::uint32_t frame = scope == nullptr ? kNone : scope->frame; frame != kNone;
       frame = debug.frames[frame].parent) {
    const DebugFrame& inlined = debug.frames[frame];
    if (!is_ours(inlined.call_file)) continue;
    rows[files[inlined.call_file]].emplace(inlined.call_line, row);
    return;
  }
}

CodeSites::CodeSites(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
CodeSites::CodeSites(CodeSites&&) noexcept = default;
CodeSites& CodeSites::operator=(CodeSites&&) noexcept = default;
CodeSites::~CodeSites() = default;

Result<CodeSites> CodeSites::load(const std::string& path, const std::string& repository_root,
                                  const std::vector<std::string>& sources) {
  auto object = ObjectFile::open(path);
  if (!object) return fail(object.error());
  auto info = load_debug_info(path, object->function_addresses());
  if (!info) return fail(info.error());
  auto tables = std::make_unique<Tables>(Tables{std::move(*object), std::move(*info), {}, {}});
  const SourcePaths paths(repository_root, sources);
  for (const std::string& recorded : tables->debug.files) tables->files.push_back(paths.relative(recorded));
  for (std::size_t row = 0; row + 1 < tables->debug.rows.size(); ++row)
    if (!tables->debug.rows[row].end) tables->index(row);
  return CodeSites(std::move(tables));
}

bool CodeSites::has_code(const std::string& file, std::uint32_t first, std::uint32_t last) const {
  const auto lines = tables_->rows.find(file);
  if (lines == tables_->rows.end()) return false;
  const auto at = lines->second.lower_bound(first);
  return at != lines->second.end() && at->first <= last;
}

std::vector<std::uint64_t> CodeSites::calls_at(const std::string& file, std::uint32_t line) const {
  std::vector<std::uint64_t> calls;
  const auto lines = tables_->rows.find(file);
  if (lines == tables_->rows.end()) return calls;
  const auto [first, last] = lines->second.equal_range(line);
  for (auto at = first; at != last; ++at) {
    const std::uint64_t begin = tables_->debug.rows[at->second].address;
    const auto more = tables_->object.call_returns(begin, tables_->debug.rows[at->second + 1].address);
    calls.insert(calls.end(), more.begin(), more.end());
  }
  sort_unique(calls);
  return calls;
}

namespace {

struct OpenCall {
  std::optional<std::uint64_t> target;  // in this module
  bool by_library;
};

}  // namespace

CodeSites::LibraryCode CodeSites::library_code_behind(const std::vector<std::uint64_t>& calls,
                                                      const std::vector<Linked>& functions) const {
  const ObjectFile& object = tables_->object;
  LibraryCode found;
  std::vector<OpenCall> open;
  std::set<std::uint64_t> entered;
  std::set<Linked> linked;
  const auto open_call = [&](std::uint64_t returns, bool by_library) {
    const std::string_view symbol = object.linked_call(returns);
    if (!symbol.empty()) linked.insert({std::string(symbol), by_library});
    open.push_back(
        {symbol.empty() ? object.call_target(returns) : object.function_named(symbol), by_library});
  };
  for (const std::uint64_t call : calls) open_call(call, false);
  for (const Linked& function : functions)
    open.push_back({object.function_named(function.symbol), function.by_library});
  while (!open.empty()) {
    const OpenCall call = open.back();
    open.pop_back();
    const DebugScope* scope = call.target ? tables_->debug.scope_at(*call.target) : nullptr;
    if (scope == nullptr || scope->owner == kNone) continue;  // another module's
    const bool ours = tables_->is_ours(tables_->debug.functions[scope->owner].file);
    if ((ours && !call.by_library) || !entered.insert(scope->owner_begin).second) continue;
    for (const std::uint64_t more : object.call_returns(scope->owner_begin, scope->owner_end)) {
      found.calls.push_back(more);
      open_call(more, !ours);
    }
  }
  sort_unique(found.calls);
  found.linked.assign(linked.begin(), linked.end());
  return found;
}

}  // namespace simrt::analysis
