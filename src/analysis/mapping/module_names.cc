#include "analysis/mapping/module_names.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Demangle/Demangle.h>

#include <algorithm>

#include "analysis/mapping/debug_info.h"
#include "analysis/mapping/display_name.h"
#include "analysis/mapping/object_file.h"
#include "analysis/mapping/source_paths.h"

namespace simrt::analysis {
namespace {

struct Symbol {
  std::uint64_t address = 0, size = 0;
  std::string name;
};

std::vector<Symbol> data_symbols(const ObjectFile& file) {
  std::vector<Symbol> symbols;
  const auto& elf = llvm::cast<llvm::object::ELFObjectFileBase>(file.object());
  for (const llvm::object::ELFSymbolRef symbol : elf.symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_OBJECT || symbol.getSize() == 0) continue;
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (name && address) symbols.push_back({*address, symbol.getSize(), name->str()});
    if (!name) llvm::consumeError(name.takeError());
    if (!address) llvm::consumeError(address.takeError());
  }
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    return a.address != b.address ? a.address < b.address : a.name < b.name;
  });
  return symbols;
}

}  // namespace

struct ModuleNames::Tables {
  Tables(ObjectFile opened, DebugInfo info, const std::string& root, const std::vector<std::string>& sources)
      : object(std::move(opened)), debug(std::move(info)), paths(root, sources), data(data_symbols(object)) {}

  std::string file_name(std::uint32_t file) const {
    if (file == kNone) return {};
    const std::string& recorded = debug.files[file];
    const std::string relative = paths.relative(recorded);
    return relative.empty() ? recorded : relative;
  }

  ObjectFile object;
  DebugInfo debug;
  SourcePaths paths;
  std::vector<Symbol> data;
};

ModuleNames::ModuleNames(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
ModuleNames::ModuleNames(ModuleNames&&) noexcept = default;
ModuleNames& ModuleNames::operator=(ModuleNames&&) noexcept = default;
ModuleNames::~ModuleNames() = default;

Result<ModuleNames> ModuleNames::load(const std::string& path, std::vector<std::uint64_t> pcs,
                                      const std::string& repository_root,
                                      const std::vector<std::string>& sources) {
  auto object = ObjectFile::open(path);
  if (!object) return fail(object.error());
  std::sort(pcs.begin(), pcs.end());
  DebugInfo info;
  if (!pcs.empty()) {
    auto loaded = load_debug_info(path, pcs);
    if (!loaded) return fail(loaded.error());
    info = std::move(*loaded);
  }
  return ModuleNames(std::make_unique<Tables>(std::move(*object), std::move(info), repository_root, sources));
}

std::vector<CodeFrame> ModuleNames::frames(std::uint64_t pc) const {
  const DebugInfo& debug = tables_->debug;
  std::vector<CodeFrame> frames;
  CodeFrame at;
  if (const std::uint32_t row = debug.row_at(pc); row != kNone) {
    at.file = tables_->file_name(debug.rows[row].file);
    at.line = debug.rows[row].line;
    at.column = debug.rows[row].column;
  }
  const DebugScope* scope = debug.scope_at(pc);
  if (scope == nullptr) {
    if (const FunctionSymbol* symbol = tables_->object.symbol_around(pc)) {
      at.linkage = symbol->name;
      at.function = display_name(symbol->name);
    }
    return {at};
  }
  for (std::uint32_t level = scope->frame; level != kNone; level = debug.frames[level].parent) {
    const DebugFrame& frame = debug.frames[level];
    const DebugFunction& function = debug.functions[frame.function];
    at.linkage = function.linkage.empty() ? function.name : function.linkage;
    at.function = display_name(at.linkage);
    frames.push_back(at);
    at = {};
    at.file = tables_->file_name(frame.call_file);
    at.line = frame.call_line;
    at.column = frame.call_column;
  }
  return frames;
}

std::optional<DataSymbol> ModuleNames::data_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(tables_->data.begin(), tables_->data.end(), address,
                       [](std::uint64_t a, const Symbol& symbol) { return a < symbol.address; });
  if (after == tables_->data.begin()) return std::nullopt;
  const Symbol& symbol = *std::prev(after);
  if (address >= symbol.address + symbol.size) return std::nullopt;
  return DataSymbol{llvm::demangle(symbol.name), address - symbol.address, symbol.size};
}

}  // namespace simrt::analysis
