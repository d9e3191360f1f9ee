#include "diff/pairing.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "diff/alignment.h"
#include "diff/renames.h"

namespace simrt::diff {
namespace {

using Functions = std::vector<const FunctionFacts*>;

/// Everything up to the parameters, without its scope.
std::string_view unqualified(std::string_view name) {
  name = name.substr(0, name.find('('));
  const std::size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

/// The number in "<parent>/lambda#<number>"; lambdas named otherwise stand behind, in source order.
std::uint32_t lambda_number(const FunctionFacts& lambda) {
  const std::size_t at = lambda.usr.rfind('#');
  std::uint32_t number = UINT32_MAX;
  if (at != std::string::npos)
    std::from_chars(lambda.usr.data() + at + 1, lambda.usr.data() + lambda.usr.size(), number);
  return number;
}

bool source_order(const FunctionFacts* a, const FunctionFacts* b) {
  const auto key = [](const FunctionFacts* f) { return std::tuple(lambda_number(*f), f->begin_line, f->id); };
  return key(a) < key(b);
}

class Pairing {
 public:
  Pairing(const Program& before, const Program& after, const DiffOptions& options)
      : before_(before), after_(after), options_(options), renames_(options.renamed_files) {}

  std::vector<FunctionPair> run() {
    collect();
    pair_equal_ids();
    pair_renamed_usrs();
    pair_by_key([&](const FunctionFacts& f, bool old) {
      return std::pair(old ? renames_.renamed(f.file) : f.file, f.name);
    });
    pair_instantiations();
    pair_moved(false);
    pair_lambdas();
    pair_moved(true);
    return finish();
  }

 private:
  void collect();
  void pair_equal_ids();
  void pair_renamed_usrs();
  void pair_instantiations();
  void pair_moved(bool lambdas);
  void pair_lambdas();
  void pair_siblings(Functions& old_lambdas, Functions& new_lambdas);
  std::vector<FunctionPair> finish();

  void pair(const FunctionFacts* before, const FunctionFacts* after) {
    new_of_[before] = after;
    old_of_[after] = before;
    pairs_.push_back({before, after});
  }
  bool is_free(const FunctionFacts* f, bool old) const {
    return old ? !new_of_.contains(f) : !old_of_.contains(f);
  }
  /// Lambdas are paired through their parents where these are known.
  bool is_nested_lambda(const FunctionFacts& f, bool old) const {
    return f.has(kLambda) && f.parent && (old ? before_ : after_).function(f.parent);
  }
  Functions free_ones(bool old, bool lambdas) const;
  template <class Key>
  void pair_by_key(Key key, bool lambdas = false);
  template <class Key>
  void pair_by_key(const Functions& old_functions, const Functions& new_functions, Key key);

  const Program& before_;
  const Program& after_;
  const DiffOptions& options_;
  const Renames renames_;
  Functions old_, new_;  ///< all that are looked at, ascending id
  std::unordered_map<const FunctionFacts*, const FunctionFacts*> new_of_, old_of_;
  std::vector<FunctionPair> pairs_;
};

void Pairing::collect() {
  if (!options_.restrict_to) {
    for (const FunctionFacts& f : before_.functions) old_.push_back(&f);
    for (const FunctionFacts& f : after_.functions) new_.push_back(&f);
    return;
  }
  for (FunctionId id : *options_.restrict_to) {
    if (const FunctionFacts* f = before_.function(id)) old_.push_back(f);
    if (const FunctionFacts* f = after_.function(id)) new_.push_back(f);
  }
}

void Pairing::pair_equal_ids() {
  auto o = old_.begin();
  for (const FunctionFacts* f : new_) {
    while (o != old_.end() && (*o)->id < f->id) ++o;
    if (o == old_.end()) break;
    if ((*o)->id == f->id && !is_nested_lambda(**o, true) && !is_nested_lambda(*f, false)) pair(*o, f);
  }
}

Functions Pairing::free_ones(bool old, bool lambdas) const {
  Functions result;
  for (const FunctionFacts* f : old ? old_ : new_)
    if (is_free(f, old) && is_nested_lambda(*f, old) == lambdas) result.push_back(f);
  return result;
}

/// Pairs what is the only one with its key on either side.
template <class Key>
void Pairing::pair_by_key(const Functions& old_functions, const Functions& new_functions, Key key) {
  using Value = decltype(key(*old_functions.front(), true));
  std::map<Value, std::pair<Functions, Functions>> groups;
  for (const FunctionFacts* f : old_functions)
    if (is_free(f, true)) groups[key(*f, true)].first.push_back(f);
  for (const FunctionFacts* f : new_functions)
    if (is_free(f, false)) groups[key(*f, false)].second.push_back(f);
  for (const auto& [value, group] : groups)
    if (group.first.size() == 1 && group.second.size() == 1) pair(group.first.front(), group.second.front());
}

template <class Key>
void Pairing::pair_by_key(Key key, bool lambdas) {
  pair_by_key(free_ones(true, lambdas), free_ones(false, lambdas), key);
}

void Pairing::pair_renamed_usrs() {
  if (renames_.empty()) return;
  // Two variants of one function (other macros) share their USR and differ in their body.
  const auto usr = [&](const FunctionFacts& f, bool old) {
    return old ? renames_.renamed_usr(f.usr) : f.usr;
  };
  pair_by_key(usr);
  pair_by_key([&](const FunctionFacts& f, bool old) { return std::pair(usr(f, old), f.body); });
}

void Pairing::pair_instantiations() {
  const auto instantiations = [&](bool old) {
    Functions result;
    for (const FunctionFacts* f : free_ones(old, false))
      if (f->has(kInstantiation) && f->pattern) result.push_back(f);
    return result;
  };
  std::map<FunctionId, FunctionId> new_pattern;
  for (const FunctionPair& pair : pairs_)
    if (pair.before->id != pair.after->id) new_pattern[pair.before->id] = pair.after->id;
  const auto pattern = [&](const FunctionFacts& f, bool old) {
    const auto moved = old ? new_pattern.find(f.pattern) : new_pattern.end();
    return moved == new_pattern.end() ? f.pattern : moved->second;
  };
  const Functions o = instantiations(true), n = instantiations(false);
  if (o.empty() || n.empty()) return;
  pair_by_key(o, n, [&](const FunctionFacts& f, bool old) {
    return std::tuple(pattern(f, old), f.signature, f.body);
  });
  pair_by_key(o, n, [&](const FunctionFacts& f, bool old) { return std::tuple(pattern(f, old), f.name); });
  pair_by_key(o, n, pattern);
}

/// Equal code alone is no identity (getters are all alike): the name or the file has to agree as well.
void Pairing::pair_moved(bool lambdas) {
  const auto sound = [&](bool old) {
    Functions result;
    for (const FunctionFacts* f : free_ones(old, lambdas))
      if (!f->has(kBroken)) result.push_back(f);
    return result;
  };
  const Functions o = sound(true), n = sound(false);
  if (o.empty() || n.empty()) return;
  const auto code = [](const FunctionFacts& f) { return std::tuple(f.signature, f.body, f.flags); };
  pair_by_key(o, n, [&](const FunctionFacts& f, bool) { return std::pair(code(f), f.name); });
  pair_by_key(o, n, [&](const FunctionFacts& f, bool) {
    return std::pair(code(f), std::string(unqualified(f.name)));
  });
  pair_by_key(o, n, [&](const FunctionFacts& f, bool old) {
    return std::pair(code(f), old ? renames_.renamed(f.file) : f.file);
  });
}

void Pairing::pair_lambdas() {
  std::unordered_map<FunctionId, Functions> old_children, new_children;
  for (const FunctionFacts* f : free_ones(true, true)) old_children[f->parent].push_back(f);
  for (const FunctionFacts* f : free_ones(false, true)) new_children[f->parent].push_back(f);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {  // grows: lambdas within lambdas
    const auto o = old_children.find(pairs_[i].before->id);
    const auto n = new_children.find(pairs_[i].after->id);
    if (o != old_children.end() && n != new_children.end()) pair_siblings(o->second, n->second);
  }
  // A parent outside options.restrict_to stayed as it was, and so did its lambdas' numbers.
  std::unordered_set<const FunctionFacts*> looked_at(old_.begin(), old_.end());
  for (const FunctionFacts* f : free_ones(false, true)) {
    const FunctionFacts* same = before_.function(f->id);
    const FunctionFacts* parent = before_.function(f->parent);
    if (same && parent && looked_at.contains(same) && !looked_at.contains(parent) && is_free(same, true))
      pair(same, f);
  }
}

void Pairing::pair_siblings(Functions& old_lambdas, Functions& new_lambdas) {
  std::sort(old_lambdas.begin(), old_lambdas.end(), source_order);
  std::sort(new_lambdas.begin(), new_lambdas.end(), source_order);
  const auto weight = [&](std::size_t i, std::size_t j) -> std::uint32_t {
    const FunctionFacts &o = *old_lambdas[i], &n = *new_lambdas[j];
    return o.body != n.body ? 0 : o.signature == n.signature ? 2 : 1;
  };
  std::size_t old_start = 0, new_start = 0;
  const auto close = [&](std::size_t old_end, std::size_t new_end) {
    while (old_start < old_end && new_start < new_end)
      pair(old_lambdas[old_start++], new_lambdas[new_start++]);
    old_start = old_end;
    new_start = new_end;
  };
  for (const auto& [i, j] : align(old_lambdas.size(), new_lambdas.size(), weight)) {
    close(i, j);
    pair(old_lambdas[old_start++], new_lambdas[new_start++]);
  }
  close(old_lambdas.size(), new_lambdas.size());
}

std::vector<FunctionPair> Pairing::finish() {
  for (const FunctionFacts* f : old_)
    if (is_free(f, true)) pairs_.push_back({f, nullptr});
  for (const FunctionFacts* f : new_)
    if (is_free(f, false)) pairs_.push_back({nullptr, f});
  const auto key = [](const FunctionPair& pair) {
    const FunctionId old_id = pair.before ? pair.before->id : FunctionId{};
    return std::pair(pair.after ? pair.after->id : old_id, old_id);
  };
  std::sort(pairs_.begin(), pairs_.end(),
            [&](const FunctionPair& a, const FunctionPair& b) { return key(a) < key(b); });
  return std::move(pairs_);
}

}  // namespace

std::vector<FunctionPair> pair_functions(const Program& before, const Program& after,
                                         const DiffOptions& options) {
  return Pairing(before, after, options).run();
}

}  // namespace simrt::diff
