// Reads stored versions of functions and variables, and walks the functions of a revision the way unite()
// does. Internal to the layer. Throws Failure and SQLite::Exception.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "history/links.h"
#include "history/query.h"
#include "history/row_ids.h"
#include "model/facts.h"
#include "support/hash.h"

namespace simrt::history {

/// A unit's row with its links.
struct LinkedUnit {
  UnitId id;
  std::string path;
  std::uint64_t command = 0;
  std::uint32_t errors = 0;
  std::uint8_t codec = 0;
  std::vector<Link> functions;
  std::vector<Link> variables;
};

/// Units of a revision in the order in which unite() takes them.
std::vector<LinkedUnit> linked_units(Connection& connection, RevisionId revision);

class FunctionReader {
 public:
  explicit FunctionReader(Connection& connection);
  struct Key {
    FunctionId function;
    std::uint64_t body = 0;
  };
  /// Id and body of a version. The row stays current, so that read() of the same version costs no second
  /// look-up.
  Key key(std::int64_t version);
  FunctionFacts read(const Link& link) { return decoded(stored(link)); }
  /// What read() reads, to be decoded later, on any thread.
  struct Stored {
    FunctionFacts facts;  // what is no part of the blob
    std::string blob;
  };
  Stored stored(const Link& link);
  static FunctionFacts decoded(Stored stored);
  std::string file(std::int64_t version);
  std::string name(std::int64_t version);

 private:
  void seek(std::int64_t version);
  Query query_;
  std::int64_t current_ = 0;
  std::unordered_map<std::int64_t, Key> keys_;
};

class VariableReader {
 public:
  explicit VariableReader(Connection& connection);
  VariableId key(std::int64_t version);
  VariableFacts read(const Link& link);

 private:
  void seek(std::int64_t version);
  Query query_;
  std::int64_t current_ = 0;
  std::unordered_map<std::int64_t, VariableId> keys_;
};

/// Decides which versions make up the program, with the rule of unite(): the first unit by path wins, another
/// body gets an id qualified by its unit.
class Uniter {
 public:
  struct Place {
    FunctionId id;
    bool fresh = false;  ///< not in the program yet
  };
  Place place(const FunctionReader::Key& key, const std::string& unit_path) {
    FunctionId id = key.function;
    auto [seen, fresh] = body_of_.try_emplace(id, key.body);
    if (!fresh && seen->second != key.body) {
      id = {hash_combine(id.value, hash_bytes(unit_path))};
      fresh = body_of_.try_emplace(id, key.body).second;
    }
    return {id, fresh};
  }

 private:
  std::unordered_map<FunctionId, std::uint64_t> body_of_;
};

/// One function of the united program.
struct UnitedFunction {
  FunctionId id;
  std::uint64_t body = 0;
  Link link;
};

std::vector<UnitedFunction> united_functions(Connection& connection, RevisionId revision,
                                             FunctionReader& reader);

}  // namespace simrt::history
