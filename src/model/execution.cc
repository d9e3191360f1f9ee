#include "model/execution.h"

#include "support/hash.h"

namespace simrt {

SiteId site_id(std::string_view canonical_name) { return {hash_bytes(canonical_name)}; }
RoleId role_id(std::string_view canonical_name) { return {hash_bytes(canonical_name)}; }

Choices choices_of(const Execution& execution) {
  Choices choices;
  choices.reserve(execution.decisions.size());
  for (const ExecutionDecision& decision : execution.decisions) choices.push_back(decision.chosen);
  return choices;
}

std::size_t context_switches(const Choices& choices) {
  std::size_t switches = 0;
  for (std::size_t i = 1; i < choices.size(); ++i) switches += choices[i] != choices[i - 1] ? 1 : 0;
  return switches;
}

}  // namespace simrt
