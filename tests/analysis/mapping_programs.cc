#include "mapping_programs.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

namespace simrt::analysis::test {
namespace {

// The callbacks of both compilers. PCs are written as link-time addresses, as the real runtime does.
constexpr std::string_view kCallbacks = R"(
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint32_t count;
static unsigned char seen[1 << 16];
static uintptr_t hits[1 << 16];
static unsigned hit_count;
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  for (uint32_t *g = start; g < stop; ++g) if (!*g) *g = ++count;
}
void __sanitizer_cov_trace_pc_guard(uint32_t *guard) { if (*guard) seen[*guard - 1] = 1; }
void __sanitizer_cov_pcs_init(const uintptr_t *b, const uintptr_t *e) { (void)b; (void)e; }
void __sanitizer_cov_trace_pc(void) {
  uintptr_t pc = (uintptr_t)__builtin_return_address(0);
  for (unsigned i = 0; i < hit_count; ++i) if (hits[i] == pc) return;
  if (hit_count < sizeof hits / sizeof *hits) hits[hit_count++] = pc;
}
static int bias(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size; *(uintptr_t *)out = info->dlpi_addr; return 1;
}
__attribute__((destructor)) static void dump(void) {
  uintptr_t base = 0;
  dl_iterate_phdr(bias, &base);
  FILE *out = fopen(getenv("COVERED"), "w");
  if (!out) return;
  for (uint32_t i = 0; i < count; ++i) if (seen[i]) fprintf(out, "g %u\n", i);
  for (unsigned i = 0; i < hit_count; ++i) fprintf(out, "p %lu\n", (unsigned long)(hits[i] - base));
  fclose(out);
}
)";

}  // namespace

Workspace::Workspace() {
  std::string pattern = (std::filesystem::temp_directory_path() / "simrt-mapping-XXXXXX").string();
  root_ = std::filesystem::canonical(mkdtemp(pattern.data()));
}

Workspace::~Workspace() { std::filesystem::remove_all(root_); }

std::string Workspace::path(const std::string& name) const { return name.empty() ? root_ : root_ / name; }

void Workspace::write(const std::string& name, std::string_view text) const {
  std::filesystem::create_directories((root_ / name).parent_path());
  std::ofstream(root_ / name) << text;
}

void run(const std::string& directory, const std::string& command) {
  const std::string line = "cd '" + directory + "' && " + command;
  ASSERT_EQ(std::system(line.c_str()), 0) << line;
}

std::string build(const Workspace& workspace, const std::string& compiler, const std::string& source,
                  const std::string& program, const std::string& link_flags) {
  workspace.write("callbacks.c", kCallbacks);
  const std::string c = compiler.starts_with("clang") ? "clang-19" : "gcc-12";
  run(workspace.path(), c + " -c callbacks.c -o callbacks.o");
  // One-step compile and link would make clang link its own coverage runtime.
  run(workspace.path(), compiler + " -c " + source + " -o " + program + ".o");
  const std::string linker = compiler.substr(0, compiler.find(' '));
  run(workspace.path(), linker + " " + program + ".o callbacks.o -o " + program + " " + link_flags);
  return workspace.path(program);
}

std::vector<bool> covered_guards(const Workspace& workspace, const InstrumentedModule& module,
                                 const std::string& arguments) {
  run(workspace.path(),
      "COVERED='" + workspace.path("covered") + "' '" + module.path + "' " + arguments + " > /dev/null");
  std::vector<bool> covered(module.pcs.size(), false);
  std::ifstream in(workspace.path("covered"));
  std::string kind;
  std::uint64_t value = 0;
  while (in >> kind >> value) {
    if (kind == "g") {
      EXPECT_LT(value, covered.size());
      covered.at(value) = true;
    } else {
      auto at = std::find(module.pcs.begin(), module.pcs.end(), value);
      EXPECT_NE(at, module.pcs.end()) << "PC not in the table: " << value;
      if (at != module.pcs.end()) covered[static_cast<std::size_t>(at - module.pcs.begin())] = true;
    }
  }
  return covered;
}

SourcePoint find(std::string_view source, std::string_view snippet, int occurrence) {
  std::size_t at = source.find(snippet);
  for (int i = 1; i < occurrence && at != std::string_view::npos; ++i) at = source.find(snippet, at + 1);
  EXPECT_NE(at, std::string_view::npos) << "no such snippet: " << snippet;
  if (at == std::string_view::npos) return {};
  const std::string_view before = source.substr(0, at);
  const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {line, static_cast<std::uint32_t>(at - start + 1)};
}

FunctionBuilder::FunctionBuilder(std::string name, std::string file, std::string_view source)
    : source_(source) {
  facts.id = function_id("test:" + name);
  facts.name = std::move(name);
  facts.file = std::move(file);
  facts.begin_line = 1;
  facts.end_line = static_cast<std::uint32_t>(std::count(source.begin(), source.end(), '\n'));
  points.function = facts.id;
}

FunctionBuilder& FunctionBuilder::linkage(std::string name) {
  facts.linkage_names.push_back(std::move(name));
  return *this;
}

FunctionBuilder& FunctionBuilder::lines(std::uint32_t begin, std::uint32_t end) {
  facts.begin_line = begin;
  facts.end_line = end;
  return *this;
}

FunctionBuilder& FunctionBuilder::flags(std::uint32_t flags) {
  facts.flags = flags;
  return *this;
}

FunctionBuilder& FunctionBuilder::block(std::uint32_t ordinal, const std::vector<std::string>& snippets,
                                        const std::vector<std::uint32_t>& successors, EdgeKind kind) {
  if (facts.blocks.empty()) facts.entry = ordinal;
  facts.exit = ordinal;
  Block block;
  block.ordinal = ordinal;
  BlockPoints block_points{ordinal, {}};
  for (const std::string& snippet : snippets) {
    block_points.points.push_back(find(source_, snippet));
    Element element;
    element.at = block_points.points.back();
    block.elements.push_back(element);
  }
  std::sort(block_points.points.begin(), block_points.points.end());
  for (std::uint32_t target : successors) block.successors.push_back({kind, 0, target});
  facts.blocks.push_back(std::move(block));
  points.blocks.push_back(std::move(block_points));
  return *this;
}

Program make_program(const std::vector<FunctionBuilder>& functions, std::vector<FunctionPoints>& points) {
  Program program;
  for (const FunctionBuilder& function : functions) {
    program.functions.push_back(function.facts);
    points.push_back(function.points);
  }
  program.index();
  return program;
}

std::vector<std::uint32_t> covered_blocks(const ModuleMapping& mapping, const std::vector<bool>& covered,
                                          FunctionId function) {
  std::set<std::uint32_t> ordinals;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (!covered[i]) continue;
    for (BlockId block : mapping.guards[i].blocks) {
      if (block.function == function) ordinals.insert(block.ordinal);
    }
  }
  return {ordinals.begin(), ordinals.end()};
}

}  // namespace simrt::analysis::test
