// Facts of units of revisions that nobody recorded (a branch, the work tree), kept between runs so that
// asking again about the same change parses nothing. A cache of one machine: it may vanish at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.h"

namespace simrt::pipeline {

/// One file a parse, in one directory a unit. What makes an entry usable is not its name but that everything
/// its parse asked the file system (contents, missing files, directory listings; see analysis::Questions)
/// still has the same answer: the scheme of constructive traces (Mokhov et al., "Build Systems a la Carte",
/// ICFP 2018, section 4.2.3). Several processes may use one directory: entries appear and vanish whole.
/// Whatever goes wrong (read-only or full disk, damaged entry) costs a parse, never a result.
class FactsCache {
 public:
  using Questions = std::vector<std::string>;
  using Answers = std::function<std::uint64_t(const Questions&)>;

  /// Empty `directory`: nothing is kept. `tool` identifies the program whose parses these are.
  FactsCache(std::string directory, std::uint64_t tool, std::uint64_t byte_limit = kByteLimit);

  /// The facts of a parse of this unit that would see the same now, broken ones included. `known`:
  /// fingerprint of what the parse knew of the unit (analysis::KnownUnit), 0 = nothing.
  std::optional<UnitFacts> find(const std::string& path, std::uint64_t command, std::uint64_t known,
                                const Answers& answers) const;

  void store(const UnitFacts& unit, std::uint64_t known, const Questions& questions,
             const Answers& answers) const;

  /// Removes the entries that were not used for the longest time, when all are larger than the limit.
  void prune() const;

  static constexpr std::uint64_t kByteLimit = 256U << 20U;

 private:
  std::string directory_of(const std::string& path, std::uint64_t command, std::uint64_t known) const;

  std::string directory_;
  std::uint64_t tool_, byte_limit_;
};

/// Of the running program; differs between any two builds of it.
std::uint64_t identity_of_this_program();

}  // namespace simrt::pipeline
