#include "impact/matching.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace simrt::impact {

// ---------------------------------------------------------------------------------------------- Renaming

Renaming::Renaming(const ProgramIndex& before, std::uint32_t old_function, const ProgramIndex& after,
                   std::uint32_t new_function, std::vector<std::uint32_t> new_local_of_old)
    : locals_(std::move(new_local_of_old)) {
  const FunctionId new_id = after.function(new_function).id;
  for (FunctionId old_id : before.identities(old_function)) {
    for (std::uint32_t old = 0; old < locals_.size(); ++old) {
      if (locals_[old] == kNone) continue;
      variables_[local_of(old_id, old)] = local_of(new_id, locals_[old]);
      variables_[parameter_of(old_id, old)] = parameter_of(new_id, locals_[old]);
    }
    variables_[receiver_of(old_id)] = receiver_of(new_id);
    variables_[return_of(old_id)] = return_of(new_id);
  }
}

VariableId Renaming::variable(VariableId old) const {
  const auto known = variables_.find(old);
  return known == variables_.end() ? old : known->second;
}

std::string Renaming::path(const std::string& old) const {
  if (locals_.empty() || old.size() < 2 || (old[0] != 'l' && old[0] != 'p')) return old;
  std::size_t end = 1;
  std::uint32_t ordinal = 0;
  while (end < old.size() && std::isdigit(static_cast<unsigned char>(old[end])))
    ordinal = ordinal * 10 + static_cast<std::uint32_t>(old[end++] - '0');
  const bool head_is_local =
      end > 1 &&
      (end == old.size() || !(std::isalnum(static_cast<unsigned char>(old[end])) || old[end] == '_'));
  if (!head_is_local || local(ordinal) == kNone) return old;
  return old[0] + std::to_string(local(ordinal)) + old.substr(end);
}

Place Renaming::place(const Place& old) const { return {variable(old.base), old.derefs, path(old.instance)}; }
Value Renaming::value(const Value& old) const { return {place(old.place), old.address_of}; }

// ---------------------------------------------------------------------------------------------- Matching

namespace {

/// The result of a statement that another one uses: the extraction gives it a local without a name.
bool is_value(const Local& local) { return local.name.empty() && !local.parameter; }

}  // namespace

Matching::Matching(const ProgramIndex& before, const ProgramIndex& after, const ProgramDiff& diff)
    : before_(before), after_(after) {
  pair_functions(diff);
  std::unordered_map<FunctionId, const FunctionDiff*> diff_of;
  for (const FunctionDiff& function : diff.functions)
    if (function.status == FunctionStatus::Changed) diff_of[function.id] = &function;
  for (std::uint32_t f = 0; f < after_.function_count(); ++f) {
    if (old_function_[f] == kNone) continue;
    const auto listed = diff_of.find(after_.function(f).id);
    // A body whose facts differ although its hash does not (a type changed behind its back) is matched by
    // position.
    if (listed == diff_of.end() && same_shape(f, old_function_[f])) continue;
    static const FunctionDiff kByPosition;
    changed_index_[f] = static_cast<std::uint32_t>(changed_.size());
    changed_.push_back(match(f, old_function_[f], listed == diff_of.end() ? kByPosition : *listed->second));
  }
}

void Matching::pair_functions(const ProgramDiff& diff) {
  status_.assign(after_.function_count(), FunctionStatus::Unchanged);
  old_function_.assign(after_.function_count(), kNone);
  new_function_.assign(before_.function_count(), kNone);
  std::unordered_map<FunctionId, const FunctionDiff*> listed;
  for (const FunctionDiff& function : diff.functions)
    if (function.status != FunctionStatus::Removed) listed[function.id] = &function;
  for (std::uint32_t f = 0; f < after_.function_count(); ++f) {
    const FunctionId id = after_.function(f).id;
    const auto entry = listed.find(id);
    FunctionId old_id = id;
    if (entry != listed.end()) {
      status_[f] = entry->second->status;
      old_id = status_[f] == FunctionStatus::Added ? FunctionId{} : entry->second->old_id;
      if (old_id && old_id != id) renamed_functions_[old_id] = id;
    }
    old_function_[f] = old_id ? before_.find(old_id) : kNone;
    if (old_function_[f] == kNone) {
      status_[f] = FunctionStatus::Added;
    } else {
      new_function_[old_function_[f]] = f;
    }
  }
}

bool Matching::same_shape(std::uint32_t new_function, std::uint32_t old_function) const {
  const Range new_elements = after_.elements_of(new_function),
              old_elements = before_.elements_of(old_function);
  if (new_elements.size() != old_elements.size()) return false;
  for (std::uint32_t i = 0; i < new_elements.size(); ++i)
    if (after_.events_of_element(new_elements.begin + i).size() !=
        before_.events_of_element(old_elements.begin + i).size())
      return false;
  return true;
}

ChangedFunction Matching::match(std::uint32_t new_function, std::uint32_t old_function,
                                const FunctionDiff& diff) const {
  ChangedFunction changed;
  changed.new_function = new_function;
  changed.old_function = old_function;
  changed.diff = &diff;
  match_elements(changed);
  match_locals(changed);
  match_moved(changed);
  // What a changed initialiser leaves in its variable is another value, although its last element only names
  // the variable.
  if (after_.function(new_function).has(kStaticInit) && status_[new_function] == FunctionStatus::Changed)
    std::replace(changed.status.begin(), changed.status.end(), ElementStatus::Same, ElementStatus::Altered);
  match_events(changed);
  return changed;
}

void Matching::match_elements(ChangedFunction& changed) const {
  const Range fresh = after_.elements_of(changed.new_function),
              old = before_.elements_of(changed.old_function);
  changed.status.assign(fresh.size(), ElementStatus::Added);
  changed.old_element.assign(fresh.size(), kNone);
  changed.new_element.assign(old.size(), kNone);
  const auto pair = [&](std::uint32_t new_element, std::uint32_t old_element, ElementStatus status) {
    if (!fresh.contains(new_element) || !old.contains(old_element)) return;
    changed.status[new_element - fresh.begin] = status;
    changed.old_element[new_element - fresh.begin] = old_element;
    changed.new_element[old_element - old.begin] = new_element;
  };
  if (changed.diff->blocks.empty() && status_[changed.new_function] != FunctionStatus::Changed) {
    for (std::uint32_t i = 0; i < std::min(fresh.size(), old.size()); ++i)
      if (after_.element(fresh.begin + i).hash == before_.element(old.begin + i).hash)
        pair(fresh.begin + i, old.begin + i, ElementStatus::Same);
  }
  for (const BlockDiff& block : changed.diff->blocks) {
    const std::uint32_t position = after_.block_position(changed.new_function, block.ordinal);
    if (position == kNone) continue;
    const Range elements = after_.elements_of_block(changed.new_function, position);
    for (std::uint32_t e = 0; e < std::min<std::size_t>(elements.size(), block.elements.size()); ++e) {
      const ElementDiff& element = block.elements[e];
      if (element.status == ElementStatus::Added || element.old_block == kNoMatch) continue;
      const std::uint32_t old_position = before_.block_position(changed.old_function, element.old_block);
      if (old_position == kNone) continue;
      const Range partners = before_.elements_of_block(changed.old_function, old_position);
      if (element.old_element < partners.size())
        pair(elements.begin + e, partners.begin + element.old_element, element.status);
    }
  }
  for (std::uint32_t i = 0; i < old.size(); ++i)
    if (changed.new_element[i] == kNone) changed.removed.push_back(old.begin + i);
}

/// The bijection the walk found, read back from the locals of matched elements; parameters by position
/// otherwise.
void Matching::match_locals(ChangedFunction& changed) const {
  const FunctionFacts& old = before_.function(changed.old_function);
  const FunctionFacts& fresh = after_.function(changed.new_function);
  const Range elements = after_.elements_of(changed.new_function);
  std::vector<std::uint32_t> partner(old.locals.size(), kNone);
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    if (changed.old_element[i] == kNone || changed.status[i] != ElementStatus::Same) continue;
    const auto& new_locals = after_.element(elements.begin + i).locals;
    const auto& old_locals = before_.element(changed.old_element[i]).locals;
    for (std::size_t k = 0; k < std::min(new_locals.size(), old_locals.size()); ++k)
      if (old_locals[k] < partner.size() && partner[old_locals[k]] == kNone)
        partner[old_locals[k]] = new_locals[k];
  }
  match_values(changed, partner);
  std::vector<bool> taken(fresh.locals.size(), false);
  for (std::uint32_t local : partner)
    if (local < taken.size()) taken[local] = true;
  // What no matched element mentions: the same parameter, or a local of the same name.
  for (std::uint32_t k = 0; k < old.locals.size(); ++k) {
    if (partner[k] != kNone || is_value(old.locals[k])) continue;
    for (std::uint32_t n = 0; n < fresh.locals.size(); ++n) {
      const bool same = old.locals[k].parameter
                            ? fresh.locals[n].parameter && n == k
                            : !fresh.locals[n].parameter && fresh.locals[n].name == old.locals[k].name;
      if (!same || taken[n]) continue;
      partner[k] = n;
      taken[n] = true;
      break;
    }
  }
  changed.renaming =
      Renaming(before_, changed.old_function, after_, changed.new_function, std::move(partner));
}

/// The value of a statement is that of the partner of the statement. Values have no names: the next best one
/// would lead the slice from a statement that is gone into one that has nothing to do with it.
void Matching::match_values(const ChangedFunction& changed, std::vector<std::uint32_t>& partner) const {
  const auto value_of = [](const Element& element, const FunctionFacts& facts) {
    for (std::uint32_t local : element.defines)
      if (local < facts.locals.size() && is_value(facts.locals[local])) return local;
    return kNone;
  };
  const Range elements = after_.elements_of(changed.new_function);
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    if (changed.old_element[i] == kNone) continue;
    const std::uint32_t then =
        value_of(before_.element(changed.old_element[i]), before_.function(changed.old_function));
    if (then != kNone)
      partner[then] = value_of(after_.element(elements.begin + i), after_.function(changed.new_function));
  }
}

void Matching::match_moved(ChangedFunction& changed) const {
  const Range fresh = after_.elements_of(changed.new_function);
  changed.moved_from.assign(fresh.size(), kNone);
  std::vector<bool> taken(changed.removed.size(), false);
  const auto same_locals = [&](const Element& now, const Element& then) {
    if (now.locals.size() != then.locals.size()) return false;
    for (std::size_t k = 0; k < now.locals.size(); ++k)
      if (changed.renaming.local(then.locals[k]) != now.locals[k]) return false;
    return true;
  };
  for (std::uint32_t i = 0; i < fresh.size(); ++i) {
    if (changed.status[i] != ElementStatus::Added) continue;
    const Element& now = after_.element(fresh.begin + i);
    for (std::size_t r = 0; r < changed.removed.size(); ++r) {
      const Element& then = before_.element(changed.removed[r]);
      if (taken[r] || then.hash != now.hash || then.events.size() != now.events.size() ||
          !same_locals(now, then))
        continue;
      changed.moved_from[i] = changed.removed[r];
      taken[r] = true;
      break;
    }
  }
}

void Matching::match_events(ChangedFunction& changed) const {
  const Range fresh = after_.elements_of(changed.new_function);
  changed.old_event.assign(after_.events_of(changed.new_function).size(), kNone);
  changed.new_event.assign(before_.events_of(changed.old_function).size(), kNone);
  for (std::uint32_t i = 0; i < fresh.size(); ++i)
    if (changed.old_element[i] != kNone) pair_events(changed, fresh.begin + i, changed.old_element[i]);
}

/// Longest common subsequence of equal events; elements hold few events.
void Matching::pair_events(ChangedFunction& changed, std::uint32_t new_element,
                           std::uint32_t old_element) const {
  const Range fresh = after_.events_of_element(new_element), old = before_.events_of_element(old_element);
  const std::uint32_t new_base = after_.events_of(changed.new_function).begin;
  const std::uint32_t old_base = before_.events_of(changed.old_function).begin;
  const auto pair = [&](std::uint32_t n, std::uint32_t o) {
    changed.old_event[n - new_base] = o;
    changed.new_event[o - old_base] = n;
  };
  const bool same =
      changed.status[new_element - after_.elements_of(changed.new_function).begin] == ElementStatus::Same;
  if (same && fresh.size() == old.size()) {
    for (std::uint32_t i = 0; i < fresh.size(); ++i) pair(fresh.begin + i, old.begin + i);
    return;
  }
  const std::size_t rows = fresh.size(), columns = old.size();
  std::vector<std::vector<std::uint32_t>> length(rows + 1, std::vector<std::uint32_t>(columns + 1, 0));
  std::vector<std::vector<bool>> equal(rows, std::vector<bool>(columns, false));
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;) {
      equal[i][j] = equal_event(before_.event(old.begin + static_cast<std::uint32_t>(j)),
                                after_.event(fresh.begin + static_cast<std::uint32_t>(i)), changed.renaming);
      length[i][j] = equal[i][j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    if (equal[i][j]) {
      pair(fresh.begin + static_cast<std::uint32_t>(i++), old.begin + static_cast<std::uint32_t>(j++));
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

bool Matching::equal_event(const Event& old_event, const Event& new_event, const Renaming& renaming) const {
  if (old_event.what.index() != new_event.what.index()) return false;
  if (const auto* access = std::get_if<Access>(&old_event.what)) {
    const auto& other = std::get<Access>(new_event.what);
    return std::tie(access->mode, access->order) == std::tie(other.mode, other.order) &&
           renaming.place(access->place) == other.place;
  }
  if (const auto* call = std::get_if<Call>(&old_event.what)) {
    const auto& other = std::get<Call>(new_event.what);
    if (renamed(call->callee) != other.callee || call->kind != other.kind ||
        call->arguments.size() != other.arguments.size() ||
        call->receiver.has_value() != other.receiver.has_value())
      return false;
    if (call->receiver && !(renaming.value(*call->receiver) == *other.receiver)) return false;
    for (std::size_t i = 0; i < call->arguments.size(); ++i)
      if (!(renaming.value(call->arguments[i]) == other.arguments[i])) return false;
    return call->callee || call->name == other.name;
  }
  if (const auto* lock = std::get_if<LockOp>(&old_event.what)) {
    const auto& other = std::get<LockOp>(new_event.what);
    if (lock->action != other.action || lock->mode != other.mode ||
        lock->locks.size() != other.locks.size() || !(renaming.place(lock->guard) == other.guard) ||
        !(renaming.place(lock->source) == other.source))
      return false;
    for (std::size_t i = 0; i < lock->locks.size(); ++i)
      if (!(renaming.place(lock->locks[i]) == other.locks[i])) return false;
    return true;
  }
  if (const auto* order = std::get_if<OrderOp>(&old_event.what)) {
    const auto& other = std::get<OrderOp>(new_event.what);
    return order->kind == other.kind && order->order == other.order &&
           renaming.place(order->object) == other.object;
  }
  const auto& binding = std::get<Binding>(old_event.what);
  const auto& other = std::get<Binding>(new_event.what);
  return renaming.place(binding.target) == other.target && renaming.value(binding.value) == other.value;
}

const ChangedFunction* Matching::changed(std::uint32_t new_function) const {
  const auto at = changed_index_.find(new_function);
  return at == changed_index_.end() ? nullptr : &changed_[at->second];
}

ElementStatus Matching::element_status(std::uint32_t new_element) const {
  const std::uint32_t f = after_.where(new_element).function;
  if (status_[f] == FunctionStatus::Added) return ElementStatus::Added;
  const ChangedFunction* entry = changed(f);
  return entry ? entry->status[new_element - after_.elements_of(f).begin] : ElementStatus::Same;
}

std::uint32_t Matching::old_element(std::uint32_t new_element) const {
  const std::uint32_t f = after_.where(new_element).function;
  if (old_function_[f] == kNone) return kNone;
  const std::uint32_t offset = new_element - after_.elements_of(f).begin;
  if (const ChangedFunction* entry = changed(f)) return entry->old_element[offset];
  return before_.elements_of(old_function_[f]).begin + offset;
}

std::uint32_t Matching::new_element(std::uint32_t old_element) const {
  const std::uint32_t old = before_.where(old_element).function;
  const std::uint32_t f = new_function_[old];
  if (f == kNone) return kNone;
  const std::uint32_t offset = old_element - before_.elements_of(old).begin;
  if (const ChangedFunction* entry = changed(f)) return entry->new_element[offset];
  return after_.elements_of(f).begin + offset;
}

std::uint32_t Matching::old_event(std::uint32_t new_event) const {
  const std::uint32_t f = after_.function_of_event(new_event);
  if (old_function_[f] == kNone) return kNone;
  const std::uint32_t offset = new_event - after_.events_of(f).begin;
  if (const ChangedFunction* entry = changed(f)) return entry->old_event[offset];
  return before_.events_of(old_function_[f]).begin + offset;
}

std::uint32_t Matching::old_or_moved_event(std::uint32_t new_event) const {
  const std::uint32_t partner = old_event(new_event);
  const std::uint32_t element = after_.element_of(new_event);
  const ChangedFunction* entry = changed(after_.where(element).function);
  if (partner != kNone || !entry) return partner;
  const std::uint32_t source = entry->moved_from[element - after_.elements_of(entry->new_function).begin];
  if (source == kNone) return kNone;
  return before_.events_of_element(source).begin + (new_event - after_.events_of_element(element).begin);
}

std::optional<BlockId> Matching::old_block(std::uint32_t new_function, std::uint32_t block_position) const {
  const std::uint32_t old = old_function_[new_function];
  if (old == kNone) return std::nullopt;
  const FunctionFacts& facts = before_.function(old);
  const std::uint32_t ordinal = after_.function(new_function).blocks[block_position].ordinal;
  const ChangedFunction* entry = changed(new_function);
  if (!entry || entry->diff->blocks.empty())
    return BlockId{facts.id, before_.block_position(old, ordinal) != kNone ? ordinal : facts.entry};
  const auto& blocks = entry->diff->blocks;
  const auto at =
      std::lower_bound(blocks.begin(), blocks.end(), ordinal,
                       [](const BlockDiff& block, std::uint32_t wanted) { return block.ordinal < wanted; });
  if (at == blocks.end() || at->ordinal != ordinal || at->old_ordinal == kNoMatch)
    return BlockId{facts.id, facts.entry};
  return BlockId{facts.id, at->old_ordinal};
}

FunctionId Matching::renamed(FunctionId old) const {
  const auto at = renamed_functions_.find(old);
  return at == renamed_functions_.end() ? old : at->second;
}

}  // namespace simrt::impact
