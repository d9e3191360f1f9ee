// What a linked module's debug information and symbols say of program counters and of data, for findings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "support/result.h"

namespace simrt::analysis {

/// A global or static variable.
struct DataSymbol {
  std::string name;          ///< demangled
  std::uint64_t offset = 0;  ///< of the address within it
  std::uint64_t size = 0;
};

class ModuleNames {
 public:
  /// Names of the calls at `pcs` (link-time addresses of return addresses minus one). `sources`:
  /// as CodeSites::load. Errors: Analysis, when the file is no readable ELF file. Without debug information
  /// symbol names are used.
  static Result<ModuleNames> load(const std::string& path, std::vector<std::uint64_t> pcs,
                                  const std::string& repository_root,
                                  const std::vector<std::string>& sources);
  ModuleNames(ModuleNames&&) noexcept;
  ModuleNames& operator=(ModuleNames&&) noexcept;
  ~ModuleNames();

  /// The inlined calls at `pc`, innermost first; one frame without file when nothing is known. `statement` is
  /// left empty.
  std::vector<CodeFrame> frames(std::uint64_t pc) const;
  std::optional<DataSymbol> data_at(std::uint64_t address) const;

 private:
  struct Tables;
  explicit ModuleNames(std::unique_ptr<Tables> tables);
  std::unique_ptr<Tables> tables_;
};

}  // namespace simrt::analysis
