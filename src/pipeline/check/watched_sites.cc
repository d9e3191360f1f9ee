#include "pipeline/check/watched_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "support/files.h"
#include "testing/elf_image.h"

namespace simrt::pipeline {
namespace {

struct Line {
  std::string file;
  std::uint32_t line = 0;
  auto operator<=>(const Line&) const = default;
};

struct Module {
  testing::CheckModule name;
  std::shared_ptr<const analysis::CodeSites> code;
  std::set<std::uint64_t> calls = {};              // that are to be watched
  std::vector<std::uint64_t> into_libraries = {};  // of them, those whose library code is, too
};

struct CallPlace {
  const FunctionFacts* caller;
  std::uint32_t line;
};

class Lookup {
 public:
  Lookup(const Program& head, std::vector<Module> modules) : head_(head), modules_(std::move(modules)) {}

  /// False: there is no knowing where the access happens.
  bool add(const SharedAccess& access);
  WatchedSites take();

 private:
  bool has_code(const std::string& file, std::uint32_t first, std::uint32_t last) const {
    return std::any_of(modules_.begin(), modules_.end(),
                       [&](const Module& module) { return module.code->has_code(file, first, last); });
  }
  void add_lines(const std::string& file, std::uint32_t first, std::uint32_t last, bool whole_object) {
    auto& lines = whole_object ? objects_ : lines_;
    for (std::uint32_t line = std::max(first, 1U); line <= last; ++line) lines.insert({file, line});
  }
  void add_callers(FunctionId callee, bool whole_object);
  void find_calls();
  void follow_into_libraries();

  const Program& head_;
  std::vector<Module> modules_;
  std::set<Line> lines_, objects_;  // objects_: with the library code that they call
  bool calls_known_ = false;
  std::unordered_map<FunctionId, std::vector<CallPlace>> calls_;  // by callee
  std::unordered_set<FunctionId> asked_;                          // whose callers are in
};

void Lookup::find_calls() {
  if (std::exchange(calls_known_, true)) return;
  for (const FunctionFacts& function : head_.functions)
    for (const Block& block : function.blocks)
      for (const Element& element : block.elements)
        for (const Event& event : element.events)
          if (const Call* call = std::get_if<Call>(&event.what))
            calls_[call->callee].push_back({&function, event.at.line});
}

void Lookup::add_callers(FunctionId callee, bool whole_object) {
  find_calls();
  if (!asked_.insert(callee).second) return;
  for (const CallPlace& call : calls_[callee]) {
    const FunctionFacts& caller = *call.caller;
    if (has_code(caller.file, call.line, call.line)) {
      add_lines(caller.file, call.line, call.line, whole_object);
    } else if (has_code(caller.file, caller.begin_line, caller.end_line)) {
      add_lines(caller.file, caller.begin_line, caller.end_line, whole_object);
    } else {
      add_callers(caller.id, whole_object);
    }
  }
}

bool Lookup::add(const SharedAccess& access) {
  const bool whole_object = (access.tags & kTagWholeObject) != 0;
  const std::uint32_t line = access.at.line;
  add_lines(access.file, line - 1, line + 1, whole_object);
  if (has_code(access.file, line, line)) return true;
  const FunctionFacts* function = head_.function(access.function);
  if (function == nullptr) return false;
  if (has_code(function->file, function->begin_line, function->end_line)) {
    add_lines(function->file, function->begin_line, function->end_line, whole_object);
  } else {
    add_callers(function->id, whole_object);
  }
  return true;
}

/// Calls may leave a module: a function that several have (of a template) runs in one of them for all.
void Lookup::follow_into_libraries() {
  using Linked = analysis::CodeSites::Linked;
  std::set<Linked> known;
  std::vector<Linked> linked;  // what the last round brought
  for (bool first = true; first || !linked.empty(); first = false) {
    std::set<Linked> more;
    for (Module& module : modules_) {
      const auto behind = module.code->library_code_behind(
          first ? module.into_libraries : std::vector<std::uint64_t>(), linked);
      module.calls.insert(behind.calls.begin(), behind.calls.end());
      for (const Linked& function : behind.linked)
        if (!known.contains(function)) more.insert(function);
    }
    linked.assign(more.begin(), more.end());
    known.merge(more);
  }
}

WatchedSites Lookup::take() {
  for (Module& module : modules_) {
    const auto add_all = [&](const std::vector<std::uint64_t>& more) {
      module.calls.insert(more.begin(), more.end());
    };
    for (const Line& line : lines_) add_all(module.code->calls_at(line.file, line.line));
    for (const Line& line : objects_) {
      const auto more = module.code->calls_at(line.file, line.line);
      module.into_libraries.insert(module.into_libraries.end(), more.begin(), more.end());
    }
    add_all(module.into_libraries);
  }
  follow_into_libraries();
  WatchedSites watched;
  watched.libraries = !objects_.empty();
  for (Module& module : modules_) {
    if (module.calls.empty()) continue;
    const auto index = static_cast<std::uint32_t>(watched.modules.size());
    watched.modules.push_back(std::move(module.name));
    for (const std::uint64_t call : module.calls) watched.sites.push_back({index, call});
  }
  return watched;
}

Result<std::shared_ptr<const analysis::CodeSites>> load(const std::string& file, const std::string& root,
                                                        const std::vector<std::string>& sources) {
  auto code = analysis::CodeSites::load(file, root, sources);
  if (!code) return fail(code.error());
  return std::make_shared<const analysis::CodeSites>(std::move(*code));
}

}  // namespace

Result<std::shared_ptr<const analysis::CodeSites>> LibraryCode::of(const std::string& file,
                                                                   const std::string& root,
                                                                   const std::vector<std::string>& sources) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(file); known != known_.end()) return known->second;
  auto code = load(file, root, sources);
  if (code) known_.emplace(file, *code);
  return code;
}

WatchedSites watched_sites(const Impact& impact, const Program& head, const std::string& program,
                           const std::string& build, const std::string& root,
                           const std::vector<std::string>& sources, LibraryCode& libraries) {
  std::vector<std::string> files = testing::find_libraries(program, {});
  std::erase_if(files, [&](const std::string& file) { return !relative_to(file, build); });
  files.insert(files.begin(), program);
  std::vector<Module> modules;
  const auto everything = [](std::string why) {
    WatchedSites all;
    all.why_all = std::move(why);
    return all;
  };
  for (const std::string& file : files) {
    const bool is_program = file == program;
    auto code = is_program ? load(file, root, sources) : libraries.of(file, root, sources);
    if (!code) return everything(code.error().message);
    modules.push_back(
        {is_program ? testing::CheckModule{} : testing::CheckModule{file, {}}, std::move(*code)});
  }
  Lookup lookup(head, std::move(modules));
  for (const SharedAccess& access : impact.accesses)
    if (!lookup.add(access))
      return everything(
          fmt::format("{}:{} is put at risk in a function that is not known", access.file, access.at.line));
  WatchedSites watched = lookup.take();
  if (watched.sites.empty()) watched.why_all = "no code of what is put at risk was found in it";
  return watched;
}

}  // namespace simrt::pipeline
