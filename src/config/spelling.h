// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simrt::config {

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours), when it is
/// near enough to be a likely slip (at most a third of the word); empty otherwise. Ties: the first one.
std::string nearest_spelling(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace simrt::config
