#include "pipeline/execution/complaint.h"

#include <algorithm>
#include <cstddef>
#include <regex>
#include <string_view>

namespace simrt::pipeline {
namespace {

constexpr std::size_t kLineRead = 2000;  // std::regex recurses once a character
constexpr std::size_t kLongest = 160;

/// How surely a line says why the program died.
enum class Strength { None, Frame, Weak, Strong };

struct Said {
  Strength strength = Strength::None;
  std::string text;
};

Said said_in(const std::string& line) {
  static const std::regex kStrong(
      "Assertion .*failed|terminate called .*|what\\(\\): .*|double free.*|free\\(\\): .*|malloc.*: .*|"
      "corrupted .*|pure virtual method called|\\*\\*\\* (Error in |.* detected).*\\*\\*\\*");
  // What stands around a trace of the stack: of anything at all.
  static const std::regex kFrame("\\*\\*\\* .* \\*\\*\\*");
  std::smatch match;
  if (std::regex_search(line, match, kStrong)) return {Strength::Strong, match[0].str()};
  constexpr std::string_view kFailure = ": Failure";
  if (const auto at = line.rfind(kFailure); at != std::string::npos)
    return {Strength::Weak, line.substr(0, at + kFailure.size())};
  for (const char* word : {"FAILED", "ERROR", "CHECK failed", "Check failed"})
    if (line.find(word) != std::string::npos) return {Strength::Weak, line};
  if (std::regex_search(line, match, kFrame)) return {Strength::Frame, match[0].str()};
  return {};
}

/// Heads of log lines are the severity, time and thread of glog and Abseil.
std::string without_what_varies(const std::string& text) {
  static const std::regex kVarying(
      "[IWEF][0-9]{4}([0-9]{4})? [0-9:.]+ +[0-9]+ |0x[0-9a-fA-F]+|:[0-9]+|[0-9]+ ms|/[^ :]*/");
  return std::regex_replace(text, kVarying, "");
}

}  // namespace

std::string complaint(const std::string& output, Death death) {
  Said chosen;
  for (std::string_view left = output; !left.empty();) {
    const std::size_t end = left.find('\n');
    const Said said = said_in(std::string(left.substr(0, std::min(end, kLineRead))));
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    const bool later = death == Death::Signal && said.strength == Strength::Weak;
    if (said.strength > chosen.strength || (later && said.strength == chosen.strength)) chosen = said;
    if (chosen.strength == Strength::Strong) break;
  }
  std::string text = without_what_varies(chosen.text);
  // Of whatever the program says, numbers tell who and how often; what it asserts is the code's.
  static const std::regex kNumber("\\b[0-9]+\\b ?");
  if (chosen.strength == Strength::Weak) text = std::regex_replace(text, kNumber, "");
  return text.substr(0, kLongest);
}

}  // namespace simrt::pipeline
