#include "analysis/mapping/object_file.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Support/Endian.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

namespace simrt::analysis {
namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::ELFRelocationRef;
using llvm::object::ELFSectionRef;

constexpr llvm::StringRef kTraceCallback = "__sanitizer_cov_trace_pc";

/// The value of an LLVM result, or nullopt; the error is dropped because a damaged entry is simply not there.
template <class T>
std::optional<T> value_of(llvm::Expected<T> expected) {
  if (expected) return std::move(*expected);
  llvm::consumeError(expected.takeError());
  return std::nullopt;
}

std::uint64_t symbol_value(const llvm::object::RelocationRef& relocation,
                           const llvm::object::ObjectFile& object) {
  llvm::object::symbol_iterator symbol = relocation.getSymbol();
  if (symbol == object.symbol_end()) return 0;
  return value_of(symbol->getValue()).value_or(0);
}

std::uint64_t read_u64(llvm::StringRef bytes, std::uint64_t at) {
  return llvm::support::endian::read64le(bytes.data() + at);
}

/// Address that the 32-bit displacement at `at` refers to, relative to the end of the displacement.
std::uint64_t relative_target(llvm::StringRef bytes, std::uint64_t base, std::uint64_t at) {
  const auto displacement = static_cast<std::int32_t>(llvm::support::endian::read32le(bytes.data() + at));
  return base + at + 4 + static_cast<std::uint64_t>(static_cast<std::int64_t>(displacement));
}

bool opcode_at(llvm::StringRef bytes, std::uint64_t at, unsigned char first, unsigned char second) {
  return static_cast<unsigned char>(bytes[at]) == first &&
         static_cast<unsigned char>(bytes[at + 1]) == second;
}

}  // namespace

Result<ObjectFile> ObjectFile::open(const std::string& path) {
  auto binary = llvm::object::ObjectFile::createObjectFile(path);
  if (!binary) {
    return fail(ErrorCode::Analysis, path + ": " + llvm::toString(binary.takeError()));
  }
  ObjectFile file;
  file.owner_ = std::move(*binary);
  const auto* elf = llvm::dyn_cast<ELFObjectFileBase>(file.owner_.getBinary());
  if (elf == nullptr || elf->getBytesInAddress() != 8 || !elf->isLittleEndian()) {
    return fail(ErrorCode::Analysis, path + ": not a 64-bit little-endian ELF file");
  }
  if (elf->getEType() != llvm::ELF::ET_EXEC && elf->getEType() != llvm::ELF::ET_DYN) {
    return fail(ErrorCode::Analysis, path + ": not a linked program or shared object");
  }
  file.read_sections();
  file.read_symbols();
  file.read_linked();
  return file;
}

void ObjectFile::read_sections() {
  for (const ELFSectionRef section : object().sections()) {
    const bool code = (section.getFlags() & llvm::ELF::SHF_EXECINSTR) != 0 && section.getSize() != 0;
    if (!code || section.getType() == llvm::ELF::SHT_NOBITS) continue;
    auto bytes = value_of(section.getContents());
    if (!bytes) continue;
    code_.push_back({section.getAddress(), section.getAddress() + section.getSize(), *bytes});
  }
  std::sort(code_.begin(), code_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

void ObjectFile::read_symbols() {
  struct Entry {
    FunctionSymbol symbol;
    bool local;
  };
  std::vector<Entry> entries;
  auto collect = [&](const llvm::object::ELFSymbolRef& symbol) {
    auto type = symbol.getELFType();
    if (type != llvm::ELF::STT_FUNC && type != llvm::ELF::STT_GNU_IFUNC) return;
    auto name = value_of(symbol.getName());
    auto address = value_of(symbol.getAddress());
    if (!name || !address || !executable(*address)) return;
    entries.push_back(
        {{*address, symbol.getSize(), name->str()}, symbol.getBinding() == llvm::ELF::STB_LOCAL});
  };
  const auto& elf = llvm::cast<ELFObjectFileBase>(object());
  for (const auto& symbol : elf.symbols()) collect(symbol);
  if (entries.empty()) {
    for (const auto& symbol : elf.getDynamicSymbolIterators()) collect(symbol);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.symbol.address, a.local, a.symbol.name) <
           std::tie(b.symbol.address, b.local, b.symbol.name);
  });
  for (Entry& entry : entries) symbols_.push_back(std::move(entry.symbol));
  for (const FunctionSymbol& symbol : symbols_) addresses_.emplace(symbol.name, symbol.address);
}

void ObjectFile::read_linked() {
  for (const llvm::object::SectionRef& section : object().dynamic_relocation_sections()) {
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      const llvm::object::symbol_iterator symbol = relocation.getSymbol();
      if (symbol == object().symbol_end()) continue;
      if (auto name = value_of(symbol->getName())) linked_.emplace(relocation.getOffset(), name->str());
    }
  }
}

const ObjectFile::Range* ObjectFile::code_around(std::uint64_t address) const {
  auto after = std::upper_bound(code_.begin(), code_.end(), address,
                                [](std::uint64_t a, const Range& range) { return a < range.begin; });
  if (after == code_.begin()) return nullptr;
  const Range& range = *std::prev(after);
  return address < range.end ? &range : nullptr;
}

std::vector<std::uint64_t> ObjectFile::call_returns(std::uint64_t begin, std::uint64_t end) const {
  std::vector<std::uint64_t> returns;
  const Range* range = code_around(begin);
  if (range == nullptr) return returns;
  const std::uint64_t last = std::min(end, range->end) - range->begin;
  for (std::uint64_t at = begin - range->begin; at < last; ++at) {
    if (static_cast<unsigned char>(range->bytes[at]) == 0xe8 && at + 5 <= range->bytes.size())
      returns.push_back(range->begin + at + 5);
    else if (at + 6 <= range->bytes.size() && opcode_at(range->bytes, at, 0xff, 0x15))
      returns.push_back(range->begin + at + 6);
  }
  return returns;
}

std::optional<std::uint64_t> ObjectFile::call_target(std::uint64_t address) const {
  constexpr std::uint64_t kLength = 5;
  const Range* range = code_around(address - kLength);
  if (range == nullptr || address > range->end) return std::nullopt;
  const std::uint64_t at = address - kLength - range->begin;
  if (static_cast<unsigned char>(range->bytes[at]) != 0xe8) return std::nullopt;
  return address + static_cast<std::uint64_t>(static_cast<std::int32_t>(
                       llvm::support::endian::read32le(range->bytes.data() + at + 1)));
}

std::string_view ObjectFile::linked_call(std::uint64_t address) const {
  constexpr std::uint64_t kThroughSlot = 6, kEndbr = 4;
  std::optional<std::uint64_t> slot;
  const Range* range = code_around(address - 1);
  if (range == nullptr) return {};
  if (const std::uint64_t at = address - range->begin;
      at >= kThroughSlot && opcode_at(range->bytes, at - kThroughSlot, 0xff, 0x15)) {
    slot = relative_target(range->bytes, range->begin, at - 4);
  } else if (const auto stub = call_target(address)) {  // [endbr64] [bnd] jmp *slot(%rip)
    const Range* plt = code_around(*stub);
    if (plt == nullptr) return {};
    std::uint64_t jump = *stub - plt->begin;
    if (plt->bytes.substr(jump, kEndbr) == "\xf3\x0f\x1e\xfa") jump += kEndbr;
    if (plt->bytes.substr(jump, 1) == "\xf2") ++jump;
    if (jump + kThroughSlot <= plt->bytes.size() && opcode_at(plt->bytes, jump, 0xff, 0x25))
      slot = relative_target(plt->bytes, plt->begin, jump + 2);
  }
  const auto linked = slot ? linked_.find(*slot) : linked_.end();
  return linked == linked_.end() ? std::string_view() : std::string_view(linked->second);
}

std::optional<std::uint64_t> ObjectFile::function_named(std::string_view name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint64_t> ObjectFile::function_addresses() const {
  std::vector<std::uint64_t> addresses;
  addresses.reserve(symbols_.size());
  for (const FunctionSymbol& symbol : symbols_) addresses.push_back(symbol.address);
  return addresses;
}

bool ObjectFile::executable(std::uint64_t address) const { return code_around(address) != nullptr; }

std::string_view ObjectFile::symbol_at(std::uint64_t address) const {
  auto it =
      std::lower_bound(symbols_.begin(), symbols_.end(), address,
                       [](const FunctionSymbol& symbol, std::uint64_t a) { return symbol.address < a; });
  return it != symbols_.end() && it->address == address ? std::string_view(it->name) : std::string_view();
}

const FunctionSymbol* ObjectFile::symbol_around(std::uint64_t address) const {
  auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t a, const FunctionSymbol& symbol) { return a < symbol.address; });
  if (after == symbols_.begin()) return nullptr;
  const FunctionSymbol& last = *std::prev(after);
  if (address >= last.address + last.size) return nullptr;
  auto first =
      std::lower_bound(symbols_.begin(), after, last.address,
                       [](const FunctionSymbol& symbol, std::uint64_t a) { return symbol.address < a; });
  return &*first;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> ObjectFile::sancov_table() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> table;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (const llvm::object::SectionRef& section : object().sections()) {
    auto name = value_of(section.getName());
    auto bytes = value_of(section.getContents());
    if (!name || *name != "__sancov_pcs" || !bytes) continue;
    begin = section.getAddress();
    end = begin + bytes->size();
    for (std::uint64_t at = 0; at + 16 <= bytes->size(); at += 16) {
      table.emplace_back(read_u64(*bytes, at), read_u64(*bytes, at + 8));
    }
  }
  // In position-independent code the linker leaves the value to a dynamic relocation: base + addend, or, for
  // a preemptible function, symbol + addend. Packed relative relocations keep the addend in place.
  if (table.empty()) return table;
  for (const llvm::object::SectionRef& section : object().dynamic_relocation_sections()) {
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      const std::uint64_t offset = relocation.getOffset();
      if (offset < begin || offset >= end || (offset - begin) % 16 != 0) continue;
      auto addend = value_of(ELFRelocationRef(relocation).getAddend());
      if (!addend) continue;
      table[(offset - begin) / 16].first =
          symbol_value(relocation, object()) + static_cast<std::uint64_t>(*addend);
    }
  }
  return table;
}

std::vector<std::uint64_t> ObjectFile::callback_slots() const {
  std::vector<std::uint64_t> slots;
  for (const llvm::object::SectionRef& section : object().dynamic_relocation_sections()) {
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      llvm::object::symbol_iterator symbol = relocation.getSymbol();
      if (symbol == object().symbol_end()) continue;
      if (value_of(symbol->getName()).value_or("") == kTraceCallback) slots.push_back(relocation.getOffset());
    }
  }
  return slots;
}

std::uint64_t ObjectFile::behind_store(std::uint64_t pc) const {
  // movq map@gottpoff(%rip), %r11 (or, relaxed, movq $offset, %r11); leaq guard(%rip), %r10: 14 bytes
  constexpr std::string_view kRest =
      "\x64\x4d\x8b\x1b"       // movq %fs:(%r11), %r11
      "\x43\xc6\x04\x1a\x01";  // movb $1, (%r10,%r11)
  constexpr std::uint64_t kLoads = 14;
  const Range* range = code_around(pc);
  if (range == nullptr || object().getArch() != llvm::Triple::x86_64) return pc;
  const std::uint64_t rest = pc - range->begin + kLoads;
  if (rest + kRest.size() > range->bytes.size()) return pc;
  return range->bytes.substr(rest, kRest.size()) == llvm::StringRef(kRest.data(), kRest.size())
             ? pc + kLoads + kRest.size()
             : pc;
}

std::vector<TraceCall> ObjectFile::trace_calls(const std::vector<std::uint64_t>& hits) const {
  if (object().getArch() != llvm::Triple::x86_64) return {};
  std::set<std::uint64_t> slots;
  std::set<std::uint64_t> targets;
  for (std::uint64_t slot : callback_slots()) slots.insert(slot);
  for (const FunctionSymbol& symbol : symbols_) {
    if (symbol.name == kTraceCallback) targets.insert(symbol.address);
  }
  for (std::uint64_t hit : hits) {
    const Range* range = code_around(hit - 1);
    if (range == nullptr) continue;
    const std::uint64_t at = hit - range->begin;
    if (at >= 6 && opcode_at(range->bytes, at - 6, 0xff, 0x15)) {
      slots.insert(relative_target(range->bytes, range->begin, at - 4));
    } else if (at >= 5 && static_cast<unsigned char>(range->bytes[at - 5]) == 0xe8) {
      targets.insert(relative_target(range->bytes, range->begin, at - 4));
    }
  }
  // PLT stubs: [endbr64] [bnd] jmp *slot(%rip).
  for (const Range& range : code_) {
    for (std::uint64_t at = 0; at + 6 <= range.bytes.size(); ++at) {
      if (!opcode_at(range.bytes, at, 0xff, 0x25)) continue;
      if (slots.count(relative_target(range.bytes, range.begin, at + 2)) == 0) continue;
      std::uint64_t stub = at;
      targets.insert(range.begin + stub);
      if (stub >= 1 && static_cast<unsigned char>(range.bytes[stub - 1]) == 0xf2)
        targets.insert(range.begin + --stub);
      if (stub >= 4 && range.bytes.substr(stub - 4, 4) == "\xf3\x0f\x1e\xfa")
        targets.insert(range.begin + stub - 4);
    }
  }
  std::vector<TraceCall> calls;
  if (slots.empty() && targets.empty()) return calls;
  for (const Range& range : code_) {
    for (std::uint64_t at = 0; at + 5 <= range.bytes.size(); ++at) {
      const auto byte = static_cast<unsigned char>(range.bytes[at]);
      if (byte == 0xe8 && targets.count(relative_target(range.bytes, range.begin, at + 1)) != 0) {
        // A linker that relaxes a call through the GOT leaves an address-size prefix.
        const bool prefix = at > 0 && static_cast<unsigned char>(range.bytes[at - 1]) == 0x67;
        calls.push_back({range.begin + at - (prefix ? 1 : 0), range.begin + at + 5});
      } else if (byte == 0xff && at + 6 <= range.bytes.size() && opcode_at(range.bytes, at, 0xff, 0x15) &&
                 slots.count(relative_target(range.bytes, range.begin, at + 2)) != 0) {
        calls.push_back({range.begin + at, range.begin + at + 6});
      }
    }
  }
  return calls;
}

}  // namespace simrt::analysis
