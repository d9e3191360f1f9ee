#include "impact/shared_memory.h"

#include <map>
#include <set>
#include <string_view>

#include "impact/place_types.h"

namespace simrt::impact {
namespace {

/// "ns::Class" of "ns::Class::field", "ns::Class<T>" and "ns::Class[4]".
std::string_view without_arguments(std::string_view type) { return type.substr(0, type.find_first_of("<[")); }

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {
    for (const VariableFacts& variable : program.variables) {
      if (variable.kind != VariableKind::Field) continue;
      const std::string_view name = variable.name;
      if (const std::size_t end = name.rfind("::"); end != std::string_view::npos)
        fields_[without_arguments(name.substr(0, end))].push_back(&variable);
    }
  }

  std::vector<SharedMemory> run() {
    std::map<std::uint64_t, std::vector<const VariableFacts*>> pieces;
    for (const VariableFacts& variable : program_.variables)
      if (variable.shares != 0) pieces[variable.shares].push_back(&variable);
    std::vector<SharedMemory> result;
    for (const auto& [number, fields] : pieces) {
      SharedMemory memory;
      std::set<std::string_view> classes;
      for (const VariableFacts* field : fields) add(*field, false, memory, classes);
      if (memory.members.size() > 1) result.push_back(std::move(memory));
    }
    return result;
  }

 private:
  void add(const VariableFacts& field, bool inside, SharedMemory& memory,
           std::set<std::string_view>& classes) const {
    memory.members.push_back(field.id);
    if (inside) memory.inner.push_back(field.id);
    const std::string_view type = bare_type(field.type);
    if (type.ends_with(']')) memory.elements.push_back(field.id);
    const std::string_view name = without_arguments(type);
    const auto inner = fields_.find(name);
    if (inner == fields_.end() || !classes.insert(name).second) return;
    for (const VariableFacts* part : inner->second) add(*part, true, memory, classes);
  }

  const Program& program_;
  std::map<std::string_view, std::vector<const VariableFacts*>> fields_;  ///< by class
};

}  // namespace

std::vector<SharedMemory> shared_memory(const Program& program) { return Finder(program).run(); }

}  // namespace simrt::impact
