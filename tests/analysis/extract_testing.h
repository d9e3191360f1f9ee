// Facts of source text held in memory as /repo/<name>; headers of the standard library are the real ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/facts.h"

namespace simrt::analysis {

struct Source {
  std::string code;
  std::string path = "x.cc";  ///< repository-relative; ".c" means C
  std::vector<std::pair<std::string, std::string>> headers =
      {};  ///< repository-relative or absolute path, text
  std::vector<std::string> flags = {};
};

/// Fails the test when the source does not parse.
UnitFacts facts_of(const Source& source);
inline UnitFacts facts_of(const char* code) { return facts_of(Source{code}); }
inline UnitFacts facts_of(const std::string& code) { return facts_of(Source{code}); }

/// By display name ("f", "C::f", "f()::lambda#0"); fails the test when there is none.
const FunctionFacts& function(const UnitFacts& unit, std::string_view name);
bool has_function(const UnitFacts& unit, std::string_view name);

/// All events of a function in block order from entry to exit, one a line, as dump_event prints them.
std::string events_of(const UnitFacts& unit, std::string_view function);
std::vector<std::string> event_lines(const UnitFacts& unit, std::string_view function);

const VariableFacts& variable(const UnitFacts& unit, std::string_view name);

}  // namespace simrt::analysis
