#include "impact/place_types.h"

#include <algorithm>
#include <array>

namespace simrt::impact {
namespace {

constexpr std::array<std::string_view, 7> kQualifiers = {"const ", "volatile ", "class ",  "struct ",
                                                         "union ", "enum ",     "mutable "};
constexpr std::array<std::string_view, 8> kBytes = {"char",      "signed char", "unsigned char", "void",
                                                    "std::byte", "char8_t",     "int8_t",        "uint8_t"};
constexpr std::array<std::string_view, 16> kScalars = {
    "bool",          "short",     "unsigned short",     "int",   "unsigned int", "unsigned",    "long",
    "unsigned long", "long long", "unsigned long long", "float", "double",       "long double", "wchar_t",
    "char16_t",      "char32_t"};
constexpr std::array<std::string_view, 11> kOwners = {
    "unique_ptr<", "shared_ptr<",        "weak_ptr<", "basic_string_view<", "string_view",
    "span<",       "reference_wrapper<", "optional<", "iterator<",          "tuple<",
    "pair<"};
constexpr std::array<std::string_view, 14> kTexts = {
    "basic_string<",        "std::string",    "basic_ostream<", "basic_istream<", "basic_stringstream<",
    "basic_ostringstream<", "basic_fstream<", "mutex",          "atomic<",        "condition_variable",
    "lock_guard<",          "unique_lock<",   "thread",         "once_flag"};

template <class Words>
bool is_one_of(std::string_view type, const Words& words) {
  return std::find(words.begin(), words.end(), type) != words.end();
}

/// Names the template itself, not one of its arguments: "std::vector<std::string>" is no string.
template <class Words>
bool is_named(std::string_view type, const Words& words) {
  const std::string_view outer =
      type.substr(0, type.find('<') == std::string_view::npos ? type.size() : type.find('<') + 1);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return outer.size() >= word.size() && outer.substr(outer.size() - word.size()) == word;
  });
}

}  // namespace

std::string_view bare_type(std::string_view type) {
  for (bool again = true; again;) {
    again = false;
    while (!type.empty() && type.front() == ' ') type.remove_prefix(1);
    while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
    for (std::string_view word : kQualifiers)
      if (type.substr(0, word.size()) == word) type.remove_prefix(word.size()), again = true;
    for (std::string_view word :
         {std::string_view(" const"), std::string_view(" volatile"), std::string_view("*const")})
      if (type.size() > word.size() && type.substr(type.size() - word.size()) == word)
        type.remove_suffix(word[0] == '*' ? word.size() - 1 : word.size()), again = true;
    for (std::string_view open : {std::string_view("std::atomic<"), std::string_view("_Atomic(")})
      if (type.substr(0, open.size()) == open && type.size() > open.size())
        type = type.substr(open.size(), type.size() - open.size() - 1), again = true;
  }
  return type;
}

std::string_view referred_type(std::string_view type) {
  type = bare_type(type);
  if (type.empty()) return {};
  if (type.back() == '*') return bare_type(type.substr(0, type.size() - 1));
  if (type.back() == '&') {
    while (!type.empty() && type.back() == '&') type.remove_suffix(1);
    return bare_type(type);
  }
  if (type.back() == ']') return bare_type(type.substr(0, type.find('[')));
  return {};
}

TypeShape shape_of(std::string_view type) {
  type = bare_type(type);
  if (type.empty()) return TypeShape::Unknown;
  if (type.back() == '*' || type.back() == '&') return TypeShape::Pointer;
  if (is_one_of(type, kBytes)) return TypeShape::Bytes;
  if (is_one_of(type, kScalars)) return TypeShape::Scalar;
  if (is_named(type, kOwners)) return TypeShape::Owner;
  if (is_named(type, kTexts)) return TypeShape::Text;
  return TypeShape::Class;
}

}  // namespace simrt::impact
