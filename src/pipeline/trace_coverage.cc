#include "pipeline/trace_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "analysis/mapping/mapping.h"
#include "pipeline/stale_build.h"
#include "support/files.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

constexpr std::size_t kRoleDepth = 8;  // threads that start threads ...: deeper paths only repeat themselves

/// Repository-relative paths tell the project's own code from the standard library's thread templates.
bool is_own_code(const analysis::CodeSite& site) { return !site.file.empty() && site.file.front() != '/'; }

/// Threads of one process stay apart even where their roles read alike (the role's path is cut at a depth).
std::vector<ThreadCoverage> join_by_role(const std::vector<std::vector<ThreadCoverage>>& processes) {
  std::vector<ThreadCoverage> joined;
  std::map<std::pair<std::string, std::size_t>, std::size_t>
      place;  // role, how many of it before -> in joined
  for (const std::vector<ThreadCoverage>& threads : processes) {
    std::map<std::string, std::size_t> seen;
    for (const ThreadCoverage& thread : threads) {
      const auto [at, fresh] = place.try_emplace({thread.role, seen[thread.role]++}, joined.size());
      if (fresh)
        joined.push_back(thread);
      else
        joined[at->second].blocks |= thread.blocks;
    }
  }
  return joined;
}

}  // namespace

TestCoverage combine_processes(const std::vector<std::vector<ThreadCoverage>>& processes) {
  std::vector<ThreadCoverage> threads = join_by_role(processes);
  TestCoverage combined;
  combined.threads = static_cast<std::uint32_t>(std::max<std::size_t>(1, threads.size()));
  BlockSet seen;
  for (const ThreadCoverage& thread : threads) {
    combined.several |= seen & thread.blocks;
    seen |= thread.blocks;
  }
  for (ThreadCoverage& thread : threads) {
    thread.blocks -= combined.several;
    if (thread.blocks.isEmpty()) continue;
    thread.blocks.runOptimize();
    combined.single.push_back(std::move(thread));
  }
  combined.several.runOptimize();
  return combined;
}

/// One process' trace with the mapping of each of its modules (null: not instrumented).
struct TraceCoverage::Process {
  testing::Trace trace;
  std::vector<const NumberedMapping*> mappings;
  const UnemittedFunctions::Calls* beyond = nullptr;

  BlockSet blocks(const std::vector<std::vector<std::uint32_t>>& covered) const {
    BlockSet all;
    for (std::size_t m = 0; m < covered.size() && m < mappings.size(); ++m)
      if (mappings[m]) all |= mappings[m]->blocks_of(covered[m]);
    UnemittedFunctions::spread(*beyond, all);
    return all;
  }
};

TracedCoverage TraceCoverage::read(const std::vector<std::string>& trace_files) {
  TracedCoverage out;
  std::vector<std::vector<ThreadCoverage>> processes;
  out.usable = true;
  bool any = false;
  for (std::size_t i = 0; i < trace_files.size(); ++i) {
    if (add_process(trace_files[i], i, processes, out))
      any = true;
    else
      out.usable = false;
  }
  out.usable = out.usable && any;
  const BlockSet shared = std::move(out.coverage.several);
  out.coverage = combine_processes(processes);
  out.coverage.several |= shared;
  for (ThreadCoverage& thread : out.coverage.single) thread.blocks -= shared;
  std::erase_if(out.coverage.single, [](const ThreadCoverage& thread) { return thread.blocks.isEmpty(); });
  return out;
}

bool TraceCoverage::add_process(const std::string& file, std::size_t number,
                                std::vector<std::vector<ThreadCoverage>>& processes, TracedCoverage& out) {
  auto trace = testing::read_trace(file);
  if (!trace) {
    out.notes.push_back(trace.error().message);
    return false;
  }
  Process process{std::move(*trace), {}};
  out.notes.insert(out.notes.end(), process.trace.notes.begin(), process.trace.notes.end());
  bool mapped = true;
  for (const testing::TraceModule& module : process.trace.modules) {
    process.mappings.push_back(nullptr);
    if (!module.instrumented) continue;
    if (const auto mapping = mapping_of(module)) {
      process.mappings.back() = *mapping;
      for (BlockNumber block : (*mapping)->unknown) out.coverage.several.add(block);
    } else {
      out.notes.push_back(mapping.error().message);
      mapped = false;
    }
  }
  process.beyond = &calls_beyond(process.mappings);
  const std::string name = number == 0 ? "" : fmt::format("process {}: ", number + 1);
  name_sites(process.trace);
  std::vector<ThreadCoverage>& threads = processes.emplace_back();
  std::size_t alive = 0;
  for (std::size_t t = 0; t < process.trace.threads.size(); ++t) {
    const testing::TraceThread& thread = process.trace.threads[t];
    if (thread.alive_at_end && t != 0) ++alive;
    threads.push_back({role_of(process.trace, t), process.blocks(thread.covered)});
  }
  out.coverage.several |= process.blocks(process.trace.shared);
  if (alive != 0)
    out.notes.push_back(fmt::format("{}{} thread{} alive at exit", name, alive, alive == 1 ? "" : "s"));
  return mapped;
}

Result<const NumberedMapping*> TraceCoverage::mapping_of(const testing::TraceModule& module) {
  const auto [checked, first] = fresh_.try_emplace(module.path);
  if (first) checked->second = refuse_stale_module(module.path, sources_);
  if (!checked->second) return fail(checked->second.error());
  analysis::InstrumentedModule instrumented{module.path, module.pcs, module.entry, module.pc_list_only};
  const std::uint64_t kind = module.pc_list_only ? 1 : 0;
  return mapper_.mapping_of(instrumented, hash_combine(content_of(module), kind));
}

const UnemittedFunctions::Calls& TraceCoverage::calls_beyond(
    const std::vector<const NumberedMapping*>& modules) {
  auto [known, fresh] = beyond_.try_emplace(modules);
  if (fresh) {
    std::unordered_set<FunctionId> emitted;
    for (const NumberedMapping* module : modules)
      for (std::uint64_t id : module ? module->functions : std::vector<std::uint64_t>{}) emitted.insert({id});
    known->second = unemitted_.calls_beyond(emitted);
  }
  return known->second;
}

std::uint64_t TraceCoverage::content_of(const testing::TraceModule& module) {
  auto [entry, fresh] = contents_.try_emplace(module.path);
  if (fresh) {
    const auto bytes = read_file(module.path);
    entry->second = bytes ? hash_bytes(*bytes) : hash_bytes(module.path + module.build_id);
  }
  return entry->second;
}

std::string TraceCoverage::role_of(const testing::Trace& trace, std::size_t thread) {
  std::vector<std::string> path;
  const testing::TraceThread* at = &trace.threads[thread];
  for (std::size_t depth = 0; depth < kRoleDepth && at->index != 0; ++depth) {
    std::string site = "?";
    for (const testing::TraceFrame& frame : at->frames) {
      if (frame.module >= trace.modules.size()) continue;
      const auto name = sites_.find({trace.modules[frame.module].path, frame.offset});
      if (name == sites_.end() || name->second.empty()) continue;
      site = name->second;
      break;
    }
    if (site == "?" && !at->site.empty()) site = at->site;
    path.push_back(fmt::format("{}#{}", site, at->ordinal));
    const auto parent =
        std::find_if(trace.threads.begin(), trace.threads.end(),
                     [&](const testing::TraceThread& other) { return other.index == at->parent; });
    if (parent == trace.threads.end() || parent->index >= at->index) break;
    at = &*parent;
  }
  std::string role = "main";
  for (auto part = path.rbegin(); part != path.rend(); ++part) role += "/" + *part;
  return role;
}

void TraceCoverage::name_sites(const testing::Trace& trace) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> wanted;  // module -> return addresses not named yet
  for (const testing::TraceThread& thread : trace.threads)
    for (const testing::TraceFrame& frame : thread.frames)
      if (frame.module < trace.modules.size() && frame.offset != 0 &&
          sites_.try_emplace({trace.modules[frame.module].path, frame.offset}).second)
        wanted[frame.module].push_back(frame.offset);
  for (const auto& [module, returns] : wanted) {
    std::vector<std::uint64_t> calls;
    for (std::uint64_t address : returns) calls.push_back(address - 1);
    const std::string& path = trace.modules[module].path;
    const auto named = analysis::symbolise_all(path, calls, root_);
    for (std::size_t i = 0; named && i < named->size(); ++i)
      if (is_own_code((*named)[i])) sites_[{path, returns[i]}] = (*named)[i].text();
  }
}

}  // namespace simrt::pipeline
