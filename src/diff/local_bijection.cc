#include "diff/local_bijection.h"

#include <algorithm>

#include "diff/alignment.h"

namespace simrt::diff {
namespace {

constexpr std::uint32_t kUnbound = UINT32_MAX;

std::vector<std::uint32_t> parameters_of(const FunctionFacts& function) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < function.locals.size(); ++i)
    if (function.locals[i].parameter) result.push_back(i);
  return result;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t local) {
  return std::find(list.begin(), list.end(), local) != list.end();
}

}  // namespace

LocalBijection::LocalBijection(const FunctionFacts& before, const FunctionFacts& after)
    : before_(&before),
      after_(&after),
      new_of_(before.locals.size(), kUnbound),
      old_of_(after.locals.size(), kUnbound) {
  for (const Local& local : before.locals) old_names_.emplace(local.name, local.type);
  for (const Local& local : after.locals) new_names_.emplace(local.name, local.type);
  bind_parameters();
}

void LocalBijection::bind_parameters() {
  const auto old_parameters = parameters_of(*before_), new_parameters = parameters_of(*after_);
  const auto same_type = [&](std::uint32_t o, std::uint32_t n) {
    return before_->locals[o].type == after_->locals[n].type;
  };
  if (std::equal(old_parameters.begin(), old_parameters.end(), new_parameters.begin(), new_parameters.end(),
                 same_type)) {
    for (std::size_t i = 0; i < old_parameters.size(); ++i) bind(old_parameters[i], new_parameters[i]);
    return;
  }
  const auto weight = [&](std::size_t i, std::size_t j) -> std::uint32_t {
    const std::uint32_t o = old_parameters[i], n = new_parameters[j];
    return same_type(o, n) && before_->locals[o].name == after_->locals[n].name;
  };
  for (const auto& [i, j] : align(old_parameters.size(), new_parameters.size(), weight))
    bind(old_parameters[i], new_parameters[j]);
}

bool LocalBijection::compatible(const Local& old_local, const Local& new_local) const {
  return old_local.type == new_local.type && old_local.static_storage == new_local.static_storage &&
         old_local.parameter == new_local.parameter;
}

bool LocalBijection::can_pair(std::uint32_t old_local, std::uint32_t new_local, bool defined_here) const {
  if (old_local >= new_of_.size() || new_local >= old_of_.size()) return false;
  const Local& before = before_->locals[old_local];
  const Local& after = after_->locals[new_local];
  if (!compatible(before, after)) return false;
  if (new_of_[old_local] == new_local) return true;
  if (new_of_[old_local] != kUnbound || old_of_[new_local] != kUnbound) return false;
  if (before.name == after.name) return true;
  if (before.parameter) return false;
  // Another name is a renaming where the local is defined, unless the two changed places; a mere use of
  // another variable is none as long as either name lives on in the other version.
  const bool old_lives_on = new_names_.contains({before.name, before.type});
  const bool new_existed = old_names_.contains({after.name, after.type});
  return defined_here ? !(old_lives_on && new_existed) : !old_lives_on && !new_existed;
}

bool LocalBijection::could_match(const Element& old_element, const Element& new_element) const {
  if (old_element.hash != new_element.hash || old_element.locals.size() != new_element.locals.size())
    return false;
  for (std::size_t i = 0; i < old_element.locals.size(); ++i) {
    const std::uint32_t o = old_element.locals[i], n = new_element.locals[i];
    if (!can_pair(o, n, contains(old_element.defines, o) && contains(new_element.defines, n))) return false;
  }
  return true;
}

bool LocalBijection::match(const Element& old_element, const Element& new_element) {
  if (old_element.hash != new_element.hash || old_element.locals.size() != new_element.locals.size())
    return false;
  const std::size_t start = trail_.size();
  for (std::size_t i = 0; i < old_element.locals.size(); ++i) {
    const std::uint32_t o = old_element.locals[i], n = new_element.locals[i];
    if (!can_pair(o, n, contains(old_element.defines, o) && contains(new_element.defines, n))) {
      undo(start);
      return false;
    }
    if (new_of_[o] == kUnbound) bind(o, n);
  }
  return true;
}

bool LocalBijection::match(const Block& old_block, const Block& new_block) {
  if (old_block.terminator != new_block.terminator || old_block.elements.size() != new_block.elements.size())
    return false;
  const std::size_t start = trail_.size();
  for (std::size_t i = 0; i < old_block.elements.size(); ++i) {
    if (match(old_block.elements[i], new_block.elements[i])) continue;
    undo(start);
    return false;
  }
  return true;
}

bool LocalBijection::same_names(const Element& old_element, const Element& new_element) const {
  return std::equal(old_element.locals.begin(), old_element.locals.end(), new_element.locals.begin(),
                    new_element.locals.end(), [&](std::uint32_t o, std::uint32_t n) {
                      return o < before_->locals.size() && n < after_->locals.size() &&
                             before_->locals[o].name == after_->locals[n].name;
                    });
}

void LocalBijection::bind(std::uint32_t old_local, std::uint32_t new_local) {
  new_of_[old_local] = new_local;
  old_of_[new_local] = old_local;
  trail_.emplace_back(old_local, new_local);
}

void LocalBijection::undo(std::size_t trail_size) {
  while (trail_.size() > trail_size) {
    new_of_[trail_.back().first] = kUnbound;
    old_of_[trail_.back().second] = kUnbound;
    trail_.pop_back();
  }
}

}  // namespace simrt::diff
