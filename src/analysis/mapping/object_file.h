// ELF facts of a linked module: executable ranges, function symbols, guard tables. Internal to mapping.
#pragma once

#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/result.h"

namespace simrt::analysis {

struct FunctionSymbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;
};

/// A call of the trace-pc callback: where it starts and where it returns to.
struct TraceCall {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class ObjectFile {
 public:
  static Result<ObjectFile> open(const std::string& path);

  const llvm::object::ObjectFile& object() const { return *owner_.getBinary(); }
  bool executable(std::uint64_t address) const;
  /// The name of the function symbol that starts at `address` (global before local); empty when none does.
  std::string_view symbol_at(std::uint64_t address) const;
  const FunctionSymbol* symbol_around(std::uint64_t address) const;

  /// (pc, flags) pairs of `__sancov_pcs`, relocated. Empty when the module has none.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sancov_table() const;
  /// All calls of `__sanitizer_cov_trace_pc`, direct, through the PLT or through the GOT, ascending. `hits`
  /// are known return addresses; their call targets are used too, so that stripped modules work. x86-64 only.
  std::vector<TraceCall> trace_calls(const std::vector<std::uint64_t>& hits) const;
  /// Where the code goes on behind the store that the wrappers put in place of gcc's callback
  /// (src/wrappers/assembly.cc); `pc` itself when none stands there.
  std::uint64_t behind_store(std::uint64_t pc) const;
  /// Addresses behind everything in [begin, end) that has the bytes of a call (E8 rel32, FF 15 rel32),
  /// ascending. A few may be no calls. x86-64 only.
  std::vector<std::uint64_t> call_returns(std::uint64_t begin, std::uint64_t end) const;
  /// What the direct call that returns to `address` calls; nothing for any other instruction. x86-64 only.
  std::optional<std::uint64_t> call_target(std::uint64_t address) const;
  /// The symbol that the call which returns to `address` leaves to the dynamic linker (through the PLT or the
  /// GOT): whichever module defines it first. Empty: another kind of call. x86-64 only.
  std::string_view linked_call(std::uint64_t address) const;
  /// Where the function symbol of that name starts.
  std::optional<std::uint64_t> function_named(std::string_view name) const;
  /// Where the functions start, ascending.
  std::vector<std::uint64_t> function_addresses() const;

 private:
  struct Range {
    std::uint64_t begin, end;
    llvm::StringRef bytes;
  };
  void read_sections();
  void read_symbols();
  void read_linked();
  const Range* code_around(std::uint64_t address) const;
  std::vector<std::uint64_t> callback_slots() const;

  llvm::object::OwningBinary<llvm::object::ObjectFile> owner_;
  std::vector<Range> code_;              // executable sections, ascending
  std::vector<FunctionSymbol> symbols_;  // ascending address; globals first among equals
  std::unordered_map<std::string_view, std::uint64_t> addresses_;  // of symbols_, by name; globals first
  std::unordered_map<std::uint64_t, std::string> linked_;          // slot of the GOT -> symbol
};

}  // namespace simrt::analysis
