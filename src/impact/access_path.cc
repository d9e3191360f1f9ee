#include "impact/access_path.h"

#include <algorithm>

namespace simrt::impact {
namespace {

constexpr int kMaxHops = 8;  ///< longest chain of equal paths that is followed

bool starts_with_head(std::string_view path, std::string_view head) {
  return path.substr(0, head.size()) == head && (path.size() == head.size() || path[head.size()] == '.');
}

}  // namespace

std::string_view last_component(std::string_view qualified) {
  const std::size_t at = qualified.rfind("::");
  return at == std::string_view::npos ? qualified : qualified.substr(at + 2);
}

std::string normalise_path(std::string_view written) {
  std::string path;
  path.reserve(written.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    if (c == ' ' || c == '*' || c == '&' || c == '(' || c == ')') continue;
    if (c == '-' && i + 1 < written.size() && written[i + 1] == '>') {
      path += '.';
      ++i;
    } else if (c == '[' && !path.empty()) {
      path += ".[";  // an element is a component of its own
    } else {
      path += c;
    }
  }
  return path;
}

std::string_view path_head(std::string_view path) { return path.substr(0, path.find('.')); }

Frame::Frame(const ProgramIndex& index, std::uint32_t function) : index_(index), function_(function) {
  std::string prefix;
  for (std::uint32_t f = function; f != kNone;) {
    const FunctionFacts& facts = index.function(f);
    for (FunctionId id : index.identities(f)) {
      for (std::uint32_t k = 0; k < facts.locals.size(); ++k) {
        const std::string name = prefix + (facts.locals[k].parameter ? "p" : "l") + std::to_string(k);
        locals_.try_emplace(local_of(id, k), name);
        if (facts.locals[k].parameter) locals_.try_emplace(parameter_of(id, k), name);
      }
      locals_.try_emplace(receiver_of(id), "this");
    }
    const std::uint32_t parent = facts.has(kLambda) && facts.parent ? index.find(facts.parent) : kNone;
    if (parent == f || prefix.size() > 30) break;
    f = parent;
    prefix += "up.";
  }
}

std::string Frame::unresolved(const Place& place) const {
  if (const auto local = locals_.find(place.base); local != locals_.end()) return local->second;
  const VariableFacts* facts = index_.program().variable(place.base);
  const std::string name = facts ? facts->name : "#" + std::to_string(place.base.value);
  const bool member =
      facts && (facts->kind == VariableKind::Field || facts->kind == VariableKind::TypeBucket);
  if (place.instance.empty() && !member) return "@" + name;
  const std::string object = place.instance.empty() ? "?" : normalise_path(place.instance);
  return object + "." + std::string(last_component(name));
}

std::string Frame::resolve(std::string path) const {
  for (int hop = 0; hop < kMaxHops && !equal_.empty(); ++hop) {
    std::size_t end = path.size();
    bool replaced = false;
    while (end != std::string::npos && end > 0) {
      const auto known = equal_.find(path.substr(0, end));
      if (known != equal_.end() && !known->second.empty()) {
        path = known->second + path.substr(end);
        replaced = true;
        break;
      }
      end = path.rfind('.', end - 1);
    }
    if (!replaced) break;
  }
  return path;
}

std::string Frame::path(const Place& place) const {
  std::string written = unresolved(place);
  if (!locals_.contains(place.base)) variables_.try_emplace(written, place.base);
  std::string path = resolve(std::move(written));
  if (!locals_.contains(place.base)) variables_.try_emplace(path, place.base);
  return path;
}

VariableId Frame::variable_of(const std::string& path) const {
  const auto known = variables_.find(path);
  return known == variables_.end() ? VariableId{} : known->second;
}

std::string Frame::path(const Value& value) const {
  return value.place.base ? path(value.place) : std::string();
}

void Frame::bind(const std::string& path, const std::string& target) {
  if (path.empty() || path == target) return;
  const bool circular = starts_with_head(target, path);  // p = p->next
  auto [known, fresh] = equal_.try_emplace(path, circular ? std::string() : target);
  if (!fresh && known->second != target) known->second.clear();
}

void Frame::bind_own_assignments() {
  const bool constructor = index_.function(function_).has(kConstructor);
  const Range events = index_.events_of(function_);
  for (std::uint32_t event = events.begin; event < events.end; ++event)
    if (const auto* binding = std::get_if<Binding>(&index_.event(event).what))
      bind_assignment(*binding, constructor);
  forget_reassigned_locals();
}

void Frame::bind_assignment(const Binding& binding, bool constructor) {
  if (!binding.value.place.base) return;
  const std::string target = unresolved(binding.target);
  const char head = target.empty() ? '\0' : target[0];
  const bool own_local = head == 'l';
  const bool own_member = constructor && starts_with_head(target, "this") && target.size() > 4;
  if (own_local || own_member) bind(target, path(binding.value));
}

/// `++p` and the like define a local without telling what it holds.
void Frame::forget_reassigned_locals() {
  std::unordered_map<std::uint32_t, int> definitions;
  const Range elements = index_.elements_of(function_);
  for (std::uint32_t element = elements.begin; element < elements.end; ++element)
    for (std::uint32_t local : index_.element(element).defines)
      if (++definitions[local] == 2) equal_["l" + std::to_string(local)].clear();
}

std::optional<std::string> Frame::from_callee(std::string_view callee_path, const Call& call,
                                              FunctionId callee_parent) const {
  const std::string_view head = path_head(callee_path);
  const std::string_view rest = callee_path.substr(head.size());
  const auto with_rest = [&](const std::string& object) -> std::optional<std::string> {
    if (object.empty()) return std::nullopt;
    return resolve(object + std::string(rest));
  };
  if (head.empty()) return std::nullopt;
  if (head[0] == '@' || head == "?" || head == "*") return std::string(callee_path);
  const std::vector<FunctionId> own = index_.identities(function_);
  const bool called_by_parent =
      callee_parent && std::find(own.begin(), own.end(), callee_parent) != own.end();
  if (head == "up")
    return called_by_parent ? std::optional(resolve(std::string(rest.substr(1)))) : std::nullopt;
  if (head == "this") {
    if (called_by_parent) return resolve(std::string(callee_path));  // a lambda's `this` is its parent's
    return call.receiver ? with_rest(path(*call.receiver)) : std::nullopt;
  }
  if (head[0] == 'p') {
    std::size_t index = 0;
    for (char digit : head.substr(1)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      index = index * 10 + static_cast<std::size_t>(digit - '0');
    }
    return index < call.arguments.size() ? with_rest(path(call.arguments[index])) : std::nullopt;
  }
  return std::nullopt;  // a local of the callee
}

std::vector<std::pair<std::string, std::string>> Frame::exported_equalities() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [path, target] : equal_) {
    if (target.empty() || !starts_with_head(path, "this") || path == "this") continue;
    const std::string full = resolve(target);
    if (full[0] == 'p' || full[0] == '@') result.emplace_back(path, full);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace simrt::impact
