// Access paths: how one function names an object ("this.mutex_", "p0.next", "l3"). A path stands for one
// object within one run of the function, so that two locks of one class stay apart; at a call site a path of
// the callee becomes one of the caller. Heads: this, p<i> (parameter), l<k> (local), up.<head> (of the
// enclosing function, in lambdas),
// @<name> (global), ? (an object without a name), * (any object). Knows nothing of locks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "impact/program_index.h"

namespace simrt::impact {

/// One separator ("."), no dereferences, no spaces: `this->a_->b` and `(*this).a_.b` are one path.
std::string normalise_path(std::string_view written);

/// First component of a path.
std::string_view path_head(std::string_view path);

/// The paths of one function's places.
class Frame {
 public:
  Frame(const ProgramIndex& index, std::uint32_t function);

  /// Path of the object at `place`, after following single-assignment pointers and references.
  std::string path(const Place& place) const;
  /// Path of the object that `value` is, points to or refers to; empty when it has none.
  std::string path(const Value& value) const;
  /// Variable at the end of a path that path() has produced; {} when it is a local or unknown.
  VariableId variable_of(const std::string& path) const;
  /// Follows what is known to be equal: "l2" := &this->mu_ makes "l2" "this.mu_".
  std::string resolve(std::string path) const;

  /// Records `path` := `target`. A second, different target makes the path opaque again.
  void bind(const std::string& path, const std::string& target);
  /// Records the function's own value flow: locals assigned once, and in constructors the members of `this`.
  void bind_own_assignments();

  /// Path of the caller for a path of the callee at `call`; nullopt when the caller has no name for it.
  std::optional<std::string> from_callee(std::string_view callee_path, const Call& call,
                                         FunctionId callee_parent) const;

  /// Equalities between paths of `this` and of parameters or globals: what a constructor leaves behind.
  std::vector<std::pair<std::string, std::string>> exported_equalities() const;

 private:
  std::string unresolved(const Place& place) const;
  void bind_assignment(const Binding& binding, bool constructor);
  void forget_reassigned_locals();

  const ProgramIndex& index_;
  std::uint32_t function_;
  std::unordered_map<VariableId, std::string> locals_;
  std::unordered_map<std::string, std::string> equal_;             ///< "" = opaque
  mutable std::unordered_map<std::string, VariableId> variables_;  ///< memo of paths handed out
};

/// Last component of a qualified name: "mu_" of "ns::Counter::mu_".
std::string_view last_component(std::string_view qualified);

}  // namespace simrt::impact
