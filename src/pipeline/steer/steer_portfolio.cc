// The default: the other strategies share the budget, and it shifts to those that find new coverage.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "pipeline/steer/steering.h"
#include "schedule/portfolio.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

const std::vector<std::string> kMembers = {"surw", "delay",  "map",  "pos",    "rf",     "dpor",
                                           "pair", "period", "pct3", "random", "hapset", "states"};

/// The first executions, as indices of kMembers: before coverage says who is worth most, single delays get
/// a third of them and the two systematic searches, which begin with the same execution, another one, for
/// these find most with few executions; in between everybody has a turn.
constexpr std::size_t kDelay = 1, kGuided = 10, kDeep = 11;
/// Behind so many executions a bug that shows quickly would have shown; what is left may take many switches:
/// every other execution is for it then, and later three of four.
constexpr std::size_t kQuick = 300, kLong = 1000;
constexpr std::array<std::size_t, 44> kOpening = {0, 1,  1,  1, 5, 10, 1, 5, 10, 4, 1, 5, 10, 3, 1,
                                                  5, 10, 2,  1, 5, 10, 4, 1, 10, 3, 1, 5, 10, 4, 1,
                                                  2, 1,  10, 1, 6, 1,  7, 1, 8,  1, 9, 1, 5,  0};

class Sharing final : public Steering {
 public:
  Sharing(const SteeringOptions& options, std::vector<std::unique_ptr<Steering>> members)
      : members_(std::move(members)),
        portfolio_(kMembers,
                   options.executions == 0 ? std::numeric_limits<std::uint64_t>::max() : options.executions,
                   options.seed) {}

  std::optional<Proposal> next() override {
    while (const auto member = next_member()) {
      current_ = *member;
      if (auto proposal = members_[current_]->next()) return proposal;
      if (members_[current_]->report().complete) return std::nullopt;  // nobody can find anything else
      portfolio_.finish(current_);
    }
    return std::nullopt;
  }

  void learn(const Execution& execution, const Observed& seen, const Learned& learned) override {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (i != current_) members_[i]->watch(execution, learned);
    members_[current_]->learn(execution, seen, learned);
    if (learned.looked_at || seen.failed) portfolio_.report(current_, learned.new_instances, seen.failed);
  }

  SteeringReport report() const override {
    SteeringReport report;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto& share = portfolio_.strategies()[i];
      report.lines.push_back(fmt::format("{}: {} executions, {} new instances, {} failing", share.name,
                                         share.executions, share.new_coverage, share.failures));
      const SteeringReport member = members_[i]->report();
      if (!member.complete) continue;
      report.finished = report.complete = true;
      report.scope = member.scope;
    }
    return report;
  }

 private:
  std::optional<std::size_t> next_member() {
    while (opened_ < kOpening.size()) {
      const std::size_t member = kOpening[opened_++];
      if (portfolio_.take(member)) return member;
    }
    // Single delays are few, and each is another interleaving: every other execution is theirs. Guided search
    // ends soon, too, and goes step by step: until then every fourth is its own.
    ++turn_;
    if (turn_ % 2 == 1 && members_[kDelay]->has_untried() && portfolio_.take(kDelay)) return kDelay;
    if (turn_ % 4 == 2 && portfolio_.take(kGuided)) return kGuided;
    const bool deep = turn_ % 2 == 1 ? turn_ > kQuick : turn_ % 4 == 2 && turn_ > kLong;
    if (deep && portfolio_.take(kDeep)) return kDeep;
    return portfolio_.next();
  }

  std::vector<std::unique_ptr<Steering>> members_;
  schedule::Portfolio portfolio_;
  std::size_t current_ = 0, opened_ = 0, turn_ = 0;
};

}  // namespace

SteeringResult steer_portfolio(const SteeringOptions& options) {
  std::vector<std::unique_ptr<Steering>> members;
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    SteeringOptions member = options;
    member.strategy = kMembers[i];
    member.seed = hash_combine(options.seed, i);
    auto steering = make_steering(member);
    if (!steering) return fail(steering.error());
    members.push_back(std::move(*steering));
  }
  return std::make_unique<Sharing>(options, std::move(members));
}

}  // namespace simrt::pipeline
