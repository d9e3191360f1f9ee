// Which functions are a test's own code, by the names that the test frameworks' macros give them. From facts
// alone, so that `select` knows new, changed and deleted tests without running a test program.
#pragma once

#include <optional>
#include <string>

#include "model/facts.h"

namespace simrt::pipeline {

/// "Suite.Case" of a GoogleTest body, the function's name of a Catch2 or doctest body, the unit's path of a
/// plain program's main(); nullopt for code that is not a test's own.
std::optional<std::string> test_of_function(const FunctionFacts& function);

/// Whether the function is the body, fixture set-up or tear-down of a test, or a lambda in one.
bool is_test_body(const FunctionFacts& function);

/// Whether the function is the initialiser by which a framework's macro registers a test: it runs in every
/// test of its program, and adding or removing one changes no other test.
bool is_test_registration(const FunctionFacts& function);

}  // namespace simrt::pipeline
