#include "analysis/mapping/stale_sources.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/Support/MD5.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/mapping/object_file.h"
#include "support/files.h"

namespace simrt::analysis {
namespace {

using Prologue = llvm::DWARFDebugLine::Prologue;

void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

/// Calls `visit(name, checksum or null)` for every file that some unit's line table names.
template <class Visit>
void for_each_file(const llvm::object::ObjectFile& object, Visit visit) {
  const auto context = llvm::DWARFContext::create(object, llvm::DWARFContext::ProcessDebugRelocations::Ignore,
                                                  nullptr, "", ignore, ignore);
  const llvm::DWARFObject& dwarf = context->getDWARFObj();
  const llvm::DWARFDataExtractor data(dwarf, dwarf.getLineSection(), context->isLittleEndian(),
                                      object.getBytesInAddress());
  for (std::uint64_t offset = 0; data.isValidOffset(offset);) {
    Prologue prologue;
    std::uint64_t cursor = offset;
    if (llvm::Error error = prologue.parse(data, &cursor, ignore, *context)) ignore(std::move(error));
    if (prologue.TotalLength == 0) return;
    offset += prologue.TotalLength + prologue.sizeofTotalLength();
    const bool from_zero = prologue.getVersion() >= 5;
    for (std::size_t i = 0; i < prologue.FileNames.size(); ++i) {
      std::string name;
      if (!prologue.getFileNameByIndex(i + (from_zero ? 0 : 1), "",
                                       llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, name))
        continue;
      visit(name, prologue.ContentTypes.HasMD5 ? &prologue.FileNames[i].Checksum : nullptr);
    }
  }
}

}  // namespace

StaleSources::StaleSources(std::string root, const std::vector<std::string>& sources)
    : root_(std::move(root)), paths_(root_, sources) {
  for (const std::string& source : sources) checksums_.try_emplace(source);
}

bool StaleSources::differs(const std::string& source, const Checksum& recorded) {
  std::optional<Checksum>& now = checksums_.at(source);
  if (!now)
    if (const auto bytes = read_file(root_ + "/" + source))
      now = llvm::MD5::hash(llvm::arrayRefFromStringRef(*bytes));
  return now && *now != recorded;
}

bool StaleSources::newer(const std::string& source, const std::string& module_path) const {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(root_ + "/" + source, error);
  if (error) return false;
  const auto built = std::filesystem::last_write_time(module_path, error);
  return !error && written > built;
}

Result<Staleness> StaleSources::of(const std::string& module_path) {
  const auto object = ObjectFile::open(module_path);
  if (!object) return fail(object.error());
  std::set<std::string> seen;
  Staleness result;
  for_each_file(object->object(), [&](const std::string& name, const llvm::MD5::MD5Result* checksum) {
    const std::string source = paths_.relative(name);
    if (!checksums_.contains(source) || !seen.insert(source).second) return;
    if (checksum && differs(source, *checksum)) result.changed.push_back(source);
    if (!checksum && newer(source, module_path)) result.newer.push_back(source);
  });
  std::sort(result.changed.begin(), result.changed.end());
  std::sort(result.newer.begin(), result.newer.end());
  return result;
}

}  // namespace simrt::analysis
