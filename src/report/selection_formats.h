// One renderer a format; render_selection() chooses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/selection_view.h"

namespace simrt::report {

std::string render_text(const SelectionView& view);
std::string render_names(const SelectionView& view);
std::string render_gtest(const SelectionView& view);
std::string render_ctest(const SelectionView& view);
/// For CTest's and CMake's regular expressions.
std::string regex_escaped(const std::string& name);
/// Whether `program --gtest_filter=` can run it.
bool is_gtest_case(const TestCase& test);
/// The whole selection, newline-terminated.
std::string selection_json(const SelectionView& view);
nlohmann::ordered_json decision_json(const SelectionView& view, const Decision& decision);
/// A decision whose reasons carry both accesses of their pairs.
nlohmann::ordered_json why_json(const SelectionView& view, const Decision& decision);

}  // namespace simrt::report
