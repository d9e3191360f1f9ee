#include "random_code.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "cfg_text.h"
#include "support/hash.h"

namespace simrt::diff {
namespace {

/// Writes blocks as parse_cfg() text. Creation order follows the source; ordinals are turned round at the
/// end.
class Lowering {
 public:
  std::string run(const Body& body) {
    const int entry = make(), first = make(), exit_block = exit_ = make();
    jump(entry, first);
    const int last = lower(body, first);
    if (last >= 0) jump(last, exit_block);
    std::vector<int> ordinal(blocks_.size());
    // The exit stays last although it was made early.
    int next = static_cast<int>(blocks_.size()) - 1;
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i)
      if (i != exit_) ordinal[i] = next--;
    ordinal[exit_] = 0;
    std::ostringstream out;
    out << "params a:int b:int\nlocals x:int y:int z:int\n";
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      out << ordinal[i] << ": ";
      for (const std::string& element : blocks_[i].elements) out << element << "; ";
      out << "| " << blocks_[i].terminator;
      for (const auto& [label, target] : blocks_[i].edges) out << " " << label << ">" << ordinal[target];
      out << "\n";
    }
    return out.str();
  }

 private:
  struct Draft {
    std::vector<std::string> elements;
    std::string terminator;
    std::vector<std::pair<std::string, int>> edges;
  };
  int make() {
    blocks_.emplace_back();
    return static_cast<int>(blocks_.size()) - 1;
  }
  void jump(int from, int to) { blocks_[from].edges.emplace_back("", to); }

  /// Returns the block in which the code behind `body` goes on, or -1.
  int lower(const Body& body, int at) {
    for (const Statement& statement : body) {
      if (at < 0) at = make();  // unreachable code
      at = lower(statement, at);
    }
    return at;
  }

  int lower(const Statement& s, int at) {
    switch (s.kind) {
      case Statement::Kind::Simple:
        blocks_[at].elements.push_back(s.text);
        return at;
      case Statement::Kind::Return:
        blocks_[at].elements.push_back(s.text);
        jump(at, exit_);
        return -1;
      case Statement::Kind::Break:
        blocks_[at].terminator = "break";
        jump(at, loop_ends_.back());
        return -1;
      case Statement::Kind::If:
        return lower_if(s, at);
      case Statement::Kind::While:
        return lower_while(s, at);
      case Statement::Kind::Switch:
        return lower_switch(s, at);
      case Statement::Kind::Try:
        return lower_try(s, at);
    }
    return at;
  }

  void branch(int at, const std::string& condition, const std::string& terminator) {
    blocks_[at].elements.push_back(condition);
    blocks_[at].terminator = terminator;
  }

  int lower_if(const Statement& s, int at) {
    branch(at, s.text, "if");
    std::vector<int> ends;
    const char* labels[] = {"T", "F"};
    for (int arm = 0; arm < 2; ++arm) {
      if (s.bodies[arm].empty()) {
        ends.push_back(at);
        pending_.emplace_back(at, labels[arm]);
        continue;
      }
      const int start = make();
      blocks_[at].edges.emplace_back(labels[arm], start);
      ends.push_back(lower(s.bodies[arm], start));
    }
    return join_up(ends, at);
  }

  int lower_while(const Statement& s, int at) {
    const int header = make(), start = make(), behind = make();
    jump(at, header);
    branch(header, s.text, "while");
    blocks_[header].edges.emplace_back("T", start);
    blocks_[header].edges.emplace_back("F", behind);
    loop_ends_.push_back(behind);
    const int end = lower(s.bodies[0], start);
    loop_ends_.pop_back();
    if (end >= 0) jump(end, header);
    return behind;
  }

  int lower_switch(const Statement& s, int at) {
    branch(at, s.text, "switch");
    std::vector<int> ends;
    for (std::size_t i = 0; i < s.bodies.size(); ++i) {
      const int start = make();
      blocks_[at].edges.emplace_back(i < s.labels.size() ? std::to_string(s.labels[i]) : "default", start);
      ends.push_back(lower(s.bodies[i], start));
    }
    return join_up(ends, -2);
  }

  int lower_try(const Statement& s, int at) {
    const int start = make();
    jump(at, start);
    const int end = lower(s.bodies[0], start);
    const int dispatch = make(), handler = make();
    blocks_[dispatch].terminator = "try";
    blocks_[dispatch].edges.emplace_back("catch." + s.text, handler);
    return join_up({end, lower(s.bodies[1], handler)}, -2);
  }

  /// A new block behind all open ends; `branching` has arms of its own that lead there.
  int join_up(const std::vector<int>& ends, int branching) {
    if (std::all_of(ends.begin(), ends.end(), [](int end) { return end == -1; })) return -1;
    const int join = make();
    for (int end : ends)
      if (end >= 0 && end != branching) jump(end, join);
    for (const auto& [from, label] : pending_)
      if (from == branching) blocks_[from].edges.emplace_back(label, join);
    std::erase_if(pending_, [&](const auto& open) { return open.first == branching; });
    return join;
  }

  std::vector<Draft> blocks_;
  std::vector<int> loop_ends_;
  std::vector<std::pair<int, std::string>> pending_;
  int exit_ = 0;
};

}  // namespace

std::string RandomCode::fresh(const char* prefix) { return prefix + std::to_string(next_++); }

Body RandomCode::function() {
  Body result;
  for (const char* local : {"x", "y", "z"})
    result.push_back({Statement::Kind::Simple, "$" + std::string(local) + " = init_" + local, {}, {}});
  Body rest = body(3, false);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

Body RandomCode::body(int depth, bool in_loop) {
  Body result;
  for (std::size_t i = 1 + below(4); i-- > 0;) result.push_back(statement(depth, in_loop));
  return result;
}

Statement RandomCode::statement(int depth, bool in_loop) {
  const std::size_t kind = depth == 0 ? below(6) : below(12);
  const std::string local = std::string("$") + "abxyz"[below(5)];
  switch (kind) {
    case 6:
    case 7: {
      Statement s{Statement::Kind::If, fresh("c"), {body(depth - 1, in_loop), {}}, {}};
      if (below(2)) s.bodies[1] = body(depth - 1, in_loop);
      return s;
    }
    case 8:
      return {Statement::Kind::While, fresh("w"), {body(depth - 1, true)}, {}};
    case 9:
      return {Statement::Kind::Switch,
              fresh("s"),
              {body(depth - 1, in_loop), body(depth - 1, in_loop), body(depth - 1, in_loop)},
              {1, 2}};
    case 10:
      return {Statement::Kind::Try, fresh("e"), {body(depth - 1, in_loop), body(depth - 1, in_loop)}, {}};
    case 11:
      if (in_loop && below(2)) return {Statement::Kind::Break, "", {}, {}};
      return below(4) ? Statement{Statement::Kind::Simple, fresh("f"), {}, {}}
                      : Statement{Statement::Kind::Return, "return", {}, {}};
    case 0:
      return {Statement::Kind::Simple, "same", {}, {}};  // equal code in many places
    case 1:
    case 2:
      return {Statement::Kind::Simple, "use(" + local + ")", {}, {}};
    default:
      return {Statement::Kind::Simple, fresh("f"), {}, {}};
  }
}

Body& RandomCode::some_body(Body& body, bool& in_loop) {
  std::vector<std::pair<Body*, bool>> nested;
  for (Statement& s : body)
    for (Body& inner : s.bodies) nested.emplace_back(&inner, in_loop || s.kind == Statement::Kind::While);
  if (nested.empty() || below(4) == 0) return body;
  const auto [inner, inner_in_loop] = nested[below(nested.size())];
  in_loop = inner_in_loop;
  return some_body(*inner, in_loop);
}

void RandomCode::edit(Body& function) {
  bool in_loop = false;
  Body& body = some_body(function, in_loop);
  const auto at = [&] { return body.begin() + static_cast<std::ptrdiff_t>(below(body.size())); };
  if (body.empty()) {
    body.push_back(statement(0, in_loop));
    return;
  }
  switch (below(9)) {
    case 0:
      body.insert(at(), statement(0, in_loop));
      break;
    case 1:
      if (in_loop && below(4) == 0)
        body.insert(at(), {Statement::Kind::Break, "", {}, {}});
      else
        body.insert(at(), statement(2, in_loop));
      break;
    case 2:
      body.erase(at());
      break;
    case 3:
      if (auto s = at(); s->kind != Statement::Kind::Break)
        s->text = s->kind == Statement::Kind::Return ? "return 1" : fresh("n");
      break;
    case 4:
      std::iter_swap(at(), at());
      break;
    case 5: {  // take the statements out of their block, or put one into a new block
      auto s = at();
      if (s->bodies.empty() || s->kind == Statement::Kind::While) {
        Statement inner = *s;
        *s = {Statement::Kind::If, fresh("c"), {{inner}, {}}, {}};
      } else {
        Body inner = s->bodies[0];
        body.erase(s);
        body.insert(body.begin() + static_cast<std::ptrdiff_t>(below(body.size() + 1)), inner.begin(),
                    inner.end());
      }
      break;
    }
    case 6:
      if (auto s = at(); s->bodies.size() >= 2) std::swap(s->bodies[0], s->bodies[1]);
      break;
    case 7:
      if (auto s = at(); s->kind == Statement::Kind::Switch) {
        if (below(2)) {
          s->labels[below(s->labels.size())] = 3 + static_cast<int>(below(3));
          if (s->labels[0] == s->labels[1]) s->labels[1] = 7;
        } else {
          s->labels.push_back(8);
          s->bodies.insert(s->bodies.end() - 1, this->body(0, in_loop));
          if (s->labels.size() > 3) s->labels.pop_back(), s->bodies.erase(s->bodies.end() - 2);
        }
      }
      break;
    case 8:
      for (Statement& s : body)
        if (s.text.starts_with("use(")) s.text = std::string("use($") + "abxyz"[below(5)] + ")";
      break;
  }
}

FunctionFacts lower(const Body& body) { return parse_cfg("f", Lowering().run(body)); }

namespace {

constexpr int kMaximalSteps = 400;

bool takes(const Edge& edge, std::uint64_t decision, bool has_case, std::uint64_t value) {
  switch (edge.kind) {
    case EdgeKind::True:
      return decision % 2 == 0;
    case EdgeKind::False:
      return decision % 2 == 1;
    case EdgeKind::Case:
      return edge.label == value;
    case EdgeKind::Default:
      return !has_case;
    default:
      return true;
  }
}

}  // namespace

Execution execute(const FunctionFacts& function, std::uint64_t test) {
  Execution result;
  std::map<std::string, std::uint64_t> turns;
  std::uint32_t at = function.entry;
  for (int steps = 0; steps < kMaximalSteps; ++steps) {
    const Block& block = function.blocks.at(at);  // ordinals are dense here
    result.blocks.insert(at);
    for (std::uint32_t i = 0; i < block.elements.size(); ++i) {
      result.elements.insert({at, i});
      result.trace.push_back(text_of(block.elements[i]));
    }
    if (block.successors.empty()) {
      result.finished = true;
      break;
    }
    std::uint64_t decision = 0;
    if (!block.elements.empty()) {
      const std::string& condition = text_of(block.elements.back());
      decision = hash_combine(test, hash_bytes(condition));
      if (block.terminator == hash_bytes("while"))
        decision = turns[condition]++ < decision % 3 ? 0 : (turns[condition] = 0, 1);
    }
    const std::uint64_t value = hash_bytes(std::to_string(1 + decision % 9));
    const bool has_case =
        std::any_of(block.successors.begin(), block.successors.end(),
                    [&](const Edge& edge) { return edge.kind == EdgeKind::Case && edge.label == value; });
    const auto next = std::find_if(block.successors.begin(), block.successors.end(),
                                   [&](const Edge& edge) { return takes(edge, decision, has_case, value); });
    if (next == block.successors.end()) break;
    at = next->target;
  }
  return result;
}

}  // namespace simrt::diff
