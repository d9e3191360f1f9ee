#include "analysis/mapping/debug_info.h"

#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/mapping/object_file.h"
#include "analysis/mapping/optimisation_signs.h"

namespace simrt::analysis {
namespace {

using PathKind = llvm::DILineInfoSpecifier::FileLineInfoKind;

/// Damaged or unusual debug information costs coverage of some blocks; it never stops the run.
void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

/// One address range of a function's symbol or of an inlined copy in it.
struct Interval {
  std::uint64_t begin, end;
  std::uint32_t function;
  bool first;            // the first range of its DIE: where the function is entered
  DebugFrame call = {};  // inlined copies: the call it replaces
};

class Loader {
 public:
  Loader(const ObjectFile& object, const std::vector<std::uint64_t>& addresses)
      : object_(object), addresses_(addresses) {}

  DebugInfo load() {
    auto context = llvm::DWARFContext::create(
        object_.object(), llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr, "", ignore, ignore);
    for (const std::unique_ptr<llvm::DWARFUnit>& unit : context->compile_units()) {
      if (wanted(*unit)) add_unit(*context, *unit);
    }
    flatten_scopes();
    join_sequences();
    complete_declarations();
    return std::move(info_);
  }

 private:
  bool wanted(llvm::DWARFUnit& unit) const {
    auto ranges = unit.collectAddressRanges();
    if (!ranges) {
      ignore(ranges.takeError());
      return true;
    }
    if (ranges->empty()) return true;  // some producers omit the unit's ranges
    return std::any_of(ranges->begin(), ranges->end(), [&](const llvm::DWARFAddressRange& range) {
      auto it = std::lower_bound(addresses_.begin(), addresses_.end(), range.LowPC);
      return it != addresses_.end() && *it < range.HighPC;
    });
  }

  void add_unit(llvm::DWARFContext& context, llvm::DWARFUnit& unit) {
    const char* directory = unit.getCompilationDir();
    auto table = context.getLineTableForUnit(&unit, ignore);
    if (!table) {
      ignore(table.takeError());
    } else if (*table != nullptr) {
      add_rows(**table, directory == nullptr ? "" : directory);
    }

    llvm::DWARFDie root = unit.getNonSkeletonUnitDIE(/*ExtractUnitDIEOnly=*/false);
    if (!root.isValid()) return;
    llvm::DWARFUnit& full = *root.getDwarfUnit();
    const std::uint32_t unit_file = intern(unit_name(unit.getUnitDIE(), directory));
    const std::size_t known = info_.functions.size();
    OptimisationSigns signs(llvm::dwarf::toStringRef(root.find(llvm::dwarf::DW_AT_producer)));
    for (const llvm::DWARFDebugInfoEntry& entry : full.dies()) {
      const llvm::DWARFDie die(&full, &entry);
      signs.look_at(die);
      const auto tag = entry.getTag();
      if (tag == llvm::dwarf::DW_TAG_subprogram || tag == llvm::dwarf::DW_TAG_inlined_subroutine)
        add_code(die, unit_file);
    }
    for (std::size_t i = known; i < info_.functions.size(); ++i) {
      info_.functions[i].gcc = signs.gcc();
      info_.functions[i].optimised = signs.optimised();
    }
  }

  static std::string unit_name(const llvm::DWARFDie& root, const char* directory) {
    const char* name = root.getName(llvm::DINameKind::ShortName);
    std::string path = name == nullptr ? "" : name;
    if (directory != nullptr && !path.empty() && path.front() != '/')
      path = std::string(directory) + "/" + path;
    return path;
  }

  void add_code(const llvm::DWARFDie& die, std::uint32_t unit_file) {
    auto ranges = die.getAddressRanges();
    if (!ranges) return ignore(ranges.takeError());
    std::uint32_t function = kNone;
    ++copies_;
    for (const llvm::DWARFAddressRange& range : *ranges) {
      // Code that the linker threw away has a tombstone address.
      if (range.LowPC >= range.HighPC || !object_.executable(range.LowPC)) continue;
      if (function == kNone) function = function_of(die, unit_file, range.LowPC);
      auto& list = die.getTag() == llvm::dwarf::DW_TAG_subprogram ? outer_ : inlined_;
      list.push_back(
          {range.LowPC, range.HighPC, function, &range == &ranges->front(), call_of(die, function)});
    }
  }

  DebugFrame call_of(const llvm::DWARFDie& die, std::uint32_t function) {
    DebugFrame frame;
    frame.function = function;
    frame.copy = copies_;
    if (die.getTag() != llvm::dwarf::DW_TAG_inlined_subroutine) return frame;
    std::uint32_t file = 0;
    std::uint32_t discriminator = 0;
    die.getCallerFrame(file, frame.call_line, frame.call_column, discriminator);
    frame.call_file = file_of(die, file);
    return frame;
  }

  /// Of the unit's line table.
  std::uint32_t file_of(const llvm::DWARFDie& die, std::uint64_t number) {
    llvm::DWARFUnit* unit = die.getDwarfUnit()->getLinkedUnit();
    const auto* table = unit->getContext().getLineTableForUnit(unit);
    const char* directory = unit->getCompilationDir();
    std::string path;
    const bool found =
        table != nullptr && table->getFileNameByIndex(number, directory == nullptr ? "" : directory,
                                                      PathKind::AbsoluteFilePath, path);
    return found ? intern(path) : kNone;
  }

  /// A copy without a linkage name of its own shares the entry of the function it is a copy of.
  std::uint32_t function_of(const llvm::DWARFDie& die, std::uint32_t unit_file, std::uint64_t low) {
    llvm::DWARFDie identity = die;
    const bool own_name =
        die.find({llvm::dwarf::DW_AT_linkage_name, llvm::dwarf::DW_AT_MIPS_linkage_name}).has_value();
    while (!own_name) {
      llvm::DWARFDie origin = identity.getAttributeValueAsReferencedDie(llvm::dwarf::DW_AT_abstract_origin);
      if (!origin.isValid() || origin == identity) break;
      identity = origin;
    }
    auto [it, fresh] = function_index_.try_emplace(identity.getDebugInfoEntry(), info_.functions.size());
    if (fresh) info_.functions.push_back(describe(identity, unit_file));
    DebugFunction& function = info_.functions[it->second];
    // gcc leaves out the linkage name of internal functions; the out-of-line body has a symbol.
    if (function.linkage.empty() && die.getTag() == llvm::dwarf::DW_TAG_subprogram) {
      function.linkage = without_clone_suffix(object_.symbol_at(low));
    }
    return it->second;
  }

  DebugFunction describe(const llvm::DWARFDie& die, std::uint32_t unit_file) {
    DebugFunction function;
    const char* linkage = die.getLinkageName();
    const char* name = die.getShortName();
    if (linkage != nullptr) function.linkage = without_clone_suffix(linkage);
    if (name != nullptr) function.name = name;
    // gcc gives the call operator of a lambda no place; its closure has the lambda's.
    const llvm::DWARFDie placed = die.getDeclLine() != 0 ? die : die.getParent();
    function.line = static_cast<std::uint32_t>(placed.getDeclLine());
    // Not getDeclFile(): LLVM 19 finds no file where gcc's abbreviation holds the number
    // (DW_FORM_implicit_const).
    if (const auto number = llvm::dwarf::toUnsigned(placed.findRecursively(llvm::dwarf::DW_AT_decl_file)))
      function.file = file_of(placed, *number);
    function.unit = unit_file;
    return function;
  }

  /// `_Z3foov.cold`, `.part.0`, `.resume`, `.actor`: parts and clones of one source function.
  static std::string without_clone_suffix(std::string_view name) {
    const auto dot = name.find('.', 1);
    return std::string(dot == std::string_view::npos ? name : name.substr(0, dot));
  }

  void add_rows(const llvm::DWARFDebugLine::LineTable& table, const std::string& directory) {
    if (!tables_.try_emplace(&table, true).second) return;
    std::unordered_map<std::uint64_t, std::uint32_t> file_of;
    auto file = [&](std::uint64_t index) {
      auto [it, fresh] = file_of.try_emplace(index, kNone);
      std::string path;
      if (fresh && table.getFileNameByIndex(index, directory, PathKind::AbsoluteFilePath, path)) {
        it->second = intern(path);
      }
      return it->second;
    };
    for (const llvm::DWARFDebugLine::Sequence& sequence : table.Sequences) {
      if (!sequence.isValid() || !object_.executable(sequence.LowPC)) continue;
      std::vector<DebugRow> rows;
      rows.reserve(sequence.LastRowIndex - sequence.FirstRowIndex);
      for (unsigned i = sequence.FirstRowIndex; i < sequence.LastRowIndex; ++i) {
        const llvm::DWARFDebugLine::Row& row = table.Rows[i];
        rows.push_back({row.Address.Address, row.Line, row.Column, row.EndSequence ? kNone : file(row.File),
                        row.EndSequence != 0});
      }
      sequences_.push_back(std::move(rows));
    }
  }

  std::uint32_t intern(const std::string& path) {
    auto [it, fresh] = file_index_.try_emplace(path, info_.files.size());
    if (fresh) info_.files.push_back(path);
    return it->second;
  }

  void join_sequences() {
    std::stable_sort(sequences_.begin(), sequences_.end(),
                     [](const auto& a, const auto& b) { return a.front().address < b.front().address; });
    for (const auto& rows : sequences_) {
      // Two sequences for one range: a linker that merged identical functions. The first one stands.
      if (!info_.rows.empty() && rows.front().address < info_.rows.back().address) continue;
      info_.rows.insert(info_.rows.end(), rows.begin(), rows.end());
    }
  }

  /// gcc gives the call operator of a lambda no declaration; its first line-table row stands in the function.
  void complete_declarations() {
    for (const auto* list : {&outer_, &inlined_}) {
      for (const Interval& code : *list) {
        DebugFunction& function = info_.functions[code.function];
        const std::uint32_t row = info_.row_at(code.begin);
        if ((function.line != 0 && function.file != kNone) || row == kNone) continue;
        function.file = info_.rows[row].file;
        function.line = info_.rows[row].line;
      }
    }
  }

  void flatten_scopes();

  const ObjectFile& object_;
  const std::vector<std::uint64_t>& addresses_;
  DebugInfo info_;
  std::unordered_map<const llvm::DWARFDebugInfoEntry*, std::uint32_t> function_index_;
  std::unordered_map<std::string, std::uint32_t> file_index_;
  std::unordered_map<const llvm::DWARFDebugLine::LineTable*, bool> tables_;
  std::uint32_t copies_ = 0;
  std::vector<Interval> outer_;    // out-of-line bodies
  std::vector<Interval> inlined_;  // inlined copies; parents before children where ranges are equal
  std::vector<std::vector<DebugRow>> sequences_;
};

/// Sweeps over all ranges in address order with a stack of the open ones; the top is the innermost function.
void Loader::flatten_scopes() {
  auto by_nesting = [](const Interval& a, const Interval& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  std::stable_sort(outer_.begin(), outer_.end(), by_nesting);
  std::stable_sort(inlined_.begin(), inlined_.end(), by_nesting);
  std::vector<DebugScope>& scopes = info_.scopes;
  auto mark = [&](std::uint64_t begin, std::uint32_t frame, const Interval* owner) {
    DebugScope scope{begin, frame};
    if (owner != nullptr) {
      scope.owner = owner->function;
      scope.owner_begin = owner->begin;
      scope.owner_end = owner->end;
      scope.owner_entry = owner->first;
    }
    if (!scopes.empty() && scopes.back().begin == begin) {
      scopes.back() = scope;
    } else {
      scopes.push_back(scope);
    }
  };
  auto frame = [&](const Interval& code, std::uint32_t parent) {
    info_.frames.push_back(code.call);
    info_.frames.back().parent = parent;
    return static_cast<std::uint32_t>(info_.frames.size() - 1);
  };
  std::size_t next = 0;
  std::uint64_t previous_end = 0;
  for (const Interval& body : outer_) {
    if (body.begin < previous_end) continue;  // the same code described twice (merged identical functions)
    previous_end = body.end;
    struct Open {
      std::uint64_t end;
      std::uint32_t frame;
    };
    std::vector<Open> open{{body.end, frame(body, kNone)}};
    mark(body.begin, open.back().frame, &body);
    auto close_until = [&](std::uint64_t address) {
      while (open.size() > 1 && open.back().end <= address) {
        const std::uint64_t end = open.back().end;
        open.pop_back();
        mark(end, open.back().frame, &body);
      }
    };
    while (next < inlined_.size() && inlined_[next].begin < body.begin) ++next;
    for (; next < inlined_.size() && inlined_[next].begin < body.end; ++next) {
      const Interval& copy = inlined_[next];
      close_until(copy.begin);
      const std::uint64_t end = std::min(copy.end, open.back().end);
      open.push_back({end, frame(copy, open.back().frame)});
      mark(copy.begin, open.back().frame, &body);
    }
    close_until(body.end);
    mark(body.end, kNone, nullptr);
  }
}

}  // namespace

const DebugScope* DebugInfo::scope_at(std::uint64_t address) const {
  auto after = std::upper_bound(scopes.begin(), scopes.end(), address,
                                [](std::uint64_t a, const DebugScope& scope) { return a < scope.begin; });
  if (after == scopes.begin() || std::prev(after)->frame == kNone) return nullptr;
  return &*std::prev(after);
}

std::uint32_t DebugInfo::row_at(std::uint64_t address) const {
  auto after = std::upper_bound(rows.begin(), rows.end(), address,
                                [](std::uint64_t a, const DebugRow& row) { return a < row.address; });
  if (after == rows.begin() || std::prev(after)->end) return kNone;
  return static_cast<std::uint32_t>(std::prev(after) - rows.begin());
}

Result<DebugInfo> load_debug_info(const std::string& path, const std::vector<std::uint64_t>& addresses) {
  auto object = ObjectFile::open(path);
  if (!object) return fail(object.error());
  return Loader(*object, addresses).load();
}

}  // namespace simrt::analysis
