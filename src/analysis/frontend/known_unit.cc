#include "analysis/known_unit.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/extract/extract.h"
#include "model/program.h"
#include "support/hash.h"

namespace simrt::analysis {
namespace {

using Ids = std::unordered_set<FunctionId>;

bool same_declarations(const std::vector<FileFacts>& fresh, const std::vector<FileFacts>& known) {
  return std::equal(fresh.begin(), fresh.end(), known.begin(), known.end(),
                    [](const FileFacts& a, const FileFacts& b) {
                      return a.path == b.path && a.declarations == b.declarations;
                    });
}

/// A function of the unit is known by its own id, or by that of the unit's variant.
bool holds(const Ids& known, FunctionId id, const std::string& unit) {
  return known.contains(id) || known.contains(variant_id(id, unit));
}

}  // namespace

std::uint64_t KnownUnit::fingerprint() const {
  std::uint64_t hash = hash_bytes(path);
  for (const FileFacts& file : files)
    hash = hash_combine(hash_combine(hash, hash_bytes(file.path)),
                        hash_combine(file.content, file.declarations));
  for (const KnownFunction& function : functions)
    hash = hash_combine(hash,
                        hash_combine(function.id.value, function.file * 2 + (function.made_by_use ? 1 : 0)));
  return hash;
}

bool complete(UnitFacts& fresh, const SkippedFunctions& skipped, const KnownUnit& known,
              const std::set<std::string>& parsed) {
  if (skipped.for_local_type || !same_declarations(fresh.files, known.files)) return false;
  Ids recorded, parsed_anew;
  for (const KnownFunction& function : known.functions) recorded.insert(function.id);
  for (const FunctionId id : skipped.ids)
    if (!holds(recorded, id, known.path)) return false;
  for (const FunctionFacts& function : fresh.functions) {
    parsed_anew.insert(function.id);
    parsed_anew.insert(variant_id(function.id, known.path));
  }
  std::vector<FunctionId> kept;
  for (const KnownFunction& function : known.functions) {
    if (parsed_anew.contains(function.id)) continue;
    if (!parsed.contains(known.files[function.file].path))
      kept.push_back(function.id);
    else if (function.made_by_use)
      return false;
  }
  fresh.kept = std::move(kept);
  return true;
}

}  // namespace simrt::analysis
