// Which methods virtual calls newly reach because the change constructs an object of another class: a factory
// that returns another one, another argument of make_unique. The calls themselves are as before. Knows p' and
// the matching; every virtual call of a method may meet the object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "impact/change_context.h"

namespace simrt::impact {

class ConstructedClasses {
 public:
  explicit ConstructedClasses(const ChangeContext& context) : context_(context) {}

  /// The virtual methods, own and inherited, of the objects that the call event of p' makes - a
  /// constructor's, or that of a function that returns them - as far as the element's partner in p makes none
  /// of their class. Ascending.
  std::vector<std::uint32_t> newly_dispatched(std::uint32_t call_event);

 private:
  /// Class -> its constructor, kNone where that has no body (make_unique of a class without a written one).
  using Made = std::map<std::string, std::uint32_t>;

  void index_methods();
  void add_made(const ProgramIndex& index, const CallGraph& calls, std::uint32_t event, Made& made,
                int depth) const;
  Made made_before(std::uint32_t element) const;
  void add_methods(const std::string& owner, std::uint32_t constructor, const std::string& dynamic_class,
                   std::vector<std::uint32_t>& found, int depth);
  bool is_virtual(std::uint32_t method) const;

  const ChangeContext& context_;
  bool indexed_ = false;
  std::unordered_map<std::string, std::vector<std::uint32_t>> methods_;  ///< virtual ones, by class
};

}  // namespace simrt::impact
