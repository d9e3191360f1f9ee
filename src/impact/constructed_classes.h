// Which methods virtual calls newly reach because the change constructs an object of another class: a factory
// that returns another one, another argument of make_unique. The calls themselves are as before. Knows p' and
// the matching; every virtual call of a method may meet the object.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "impact/change_context.h"

namespace simrt::impact {

class ConstructedClasses {
 public:
  explicit ConstructedClasses(const ChangeContext& context) : context_(context) {}

  /// The virtual methods that objects of the class have, own and inherited, when the call event of p' is a
  /// constructor's and the element's partner in p constructs no object of that class; else none. Ascending.
  std::vector<std::uint32_t> newly_dispatched(std::uint32_t call_event);

 private:
  void index_methods();
  bool constructed_before(std::uint32_t element, const std::string& owner) const;
  void add_methods(std::uint32_t constructor, const std::string& dynamic_class,
                   std::vector<std::uint32_t>& found, int depth);
  bool is_virtual(std::uint32_t method) const;

  const ChangeContext& context_;
  bool indexed_ = false;
  std::unordered_map<std::string, std::vector<std::uint32_t>> methods_;  ///< virtual ones, by class
};

}  // namespace simrt::impact
