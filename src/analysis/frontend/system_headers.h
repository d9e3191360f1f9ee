// Precompiled system headers: one a group of units with equal flags, with function bodies skipped, kept on
// disk between runs. They make a parse several times faster and must never change what it yields.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/frontend/invocation.h"
#include "analysis/frontend/source_view.h"

namespace simrt::analysis {

struct PrecompiledHeaders {
  std::string file;                  ///< the PCH; absolute
  std::string source;                ///< absolute path of the virtual header it was made from
  std::set<std::string> conditions;  ///< identifiers that its headers ask about in #if, #ifdef, ...
  std::vector<std::string> inputs;   ///< files it was made from; absolute
};

/// What the units of one group ask for, together.
struct HeaderGroup {
  UnitInvocation representative;
  std::set<std::string> headers;  ///< names in <>
  std::set<std::string> macros;   ///< that the project's own files define
  std::size_t units = 0;
};

/// Thread-safe. A PCH of a group may be used by any unit of it, whichever headers it holds, unless the unit
/// defines a macro that those headers ask about: then including them early could give another result.
class SystemHeaderStore {
 public:
  /// `directory` is created when missing; empty = there are never any.
  SystemHeaderStore(std::shared_ptr<SourceView> view, std::string directory);

  /// The group's PCH from disk, if none of the headers in it has changed since; else, or when the group has
  /// enough units to pay for it, a new one. Null: there is none, parse without.
  std::shared_ptr<const PrecompiledHeaders> obtain(const HeaderGroup& group);
  /// What obtain() has given for this group; null when nothing or never asked.
  std::shared_ptr<const PrecompiledHeaders> find(std::uint64_t group) const;

 private:
  struct Manifest;
  std::optional<Manifest> load(std::uint64_t group) const;
  struct Attempt;
  Attempt compile(const HeaderGroup& group, const std::set<std::string>& headers,
                  const std::string& file) const;
  std::optional<Manifest> build(const HeaderGroup& group) const;
  void save(std::uint64_t group, const Manifest& manifest) const;
  void remove_leftovers(std::uint64_t group, const std::string& current, const std::string& replaced) const;
  std::string path(std::uint64_t group, const std::string& suffix) const;

  std::shared_ptr<SourceView> view_;
  std::string directory_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const PrecompiledHeaders>> ready_;
};

}  // namespace simrt::analysis
