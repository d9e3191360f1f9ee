#include "pipeline/test_code.h"

#include <string_view>

namespace simrt::pipeline {
namespace {

/// The part of a qualified name before its parameter list.
std::string_view without_parameters(std::string_view name) { return name.substr(0, name.find('(')); }

/// GoogleTest: TEST(Suite, Case) defines class Suite_Case_Test with TestBody().
std::optional<std::string> gtest_case(std::string_view name) {
  constexpr std::string_view kBody = "_Test::TestBody";
  const std::size_t end = name.find(kBody);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view scope = name.substr(0, end);
  const std::size_t colon = scope.rfind("::");
  if (colon != std::string_view::npos) scope = scope.substr(colon + 2);
  // Neither suite nor case may hold '_' by GoogleTest's rules; where they do, the first one is our best
  // guess.
  const std::size_t split = scope.find('_');
  if (split == std::string_view::npos) return std::string(scope);
  return std::string(scope.substr(0, split)) + "." + std::string(scope.substr(split + 1));
}

bool is_macro_test(std::string_view name) {
  return name.find("CATCH2_INTERNAL_TEST_") != std::string_view::npos ||
         name.find("____C_A_T_C_H____T_E_S_T____") != std::string_view::npos ||  // Catch2 2.0 to 2.12
         name.find("C_A_T_C_H_T_E_S_T_") != std::string_view::npos ||            // 2.13
         name.find("DOCTEST_ANON_FUNC_") != std::string_view::npos ||
         name.find("_DOCTEST_ANON_FUNC_") != std::string_view::npos;
}

}  // namespace

std::optional<std::string> test_of_function(const FunctionFacts& function) {
  if (function.has(kStaticInit) || function.has(kLambda)) return std::nullopt;
  const std::string_view name = without_parameters(function.name);
  if (auto gtest = gtest_case(name)) return gtest;
  if (is_macro_test(name)) return std::string(name);
  if (name == "main") return function.file;
  return std::nullopt;
}

bool is_test_body(const FunctionFacts& function) {
  const std::string_view name = function.name;
  return name.find("_Test::TestBody") != std::string_view::npos || is_macro_test(name) ||
         without_parameters(name) == "main" || name.rfind("main(", 0) == 0;
}

bool is_test_registration(const FunctionFacts& function) {
  if (!function.has(kStaticInit)) return false;
  const std::string_view name = function.name;
  return name.find("_Test::test_info_") != std::string_view::npos ||
         name.find("autoRegistrar") != std::string_view::npos ||
         name.find("DOCTEST_ANON_VAR_") != std::string_view::npos ||
         name.find("gtest_") != std::string_view::npos;
}

}  // namespace simrt::pipeline
