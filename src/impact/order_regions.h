// What an ordering operation of p' orders: what runs before a release-like one, after an acquire-like one, in
// the function, its callees and, through small wrappers, around the call sites. Knows nothing of why the
// operation matters. Built on first use: most changes touch no ordering.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "impact/acquires.h"
#include "impact/change_context.h"
#include "impact/marks.h"
#include "impact/order_effects.h"

namespace simrt::impact {

class OrderRegions {
 public:
  OrderRegions(const ChangeContext& context, Marks& marks) : context_(context), marks_(marks) {}

  /// Marks what an operation with these effects at `element` orders.
  void operation(std::uint32_t element, std::uint8_t effects, std::uint32_t cause, int lift_depth = 0);
  /// The same around the calls of a function that holds such an operation, where it is a small wrapper.
  void wrapper(std::uint32_t function, std::uint8_t effects, std::uint32_t cause, int lift_depth);
  /// An element that runs before the operation.
  void earlier(std::uint32_t element, std::uint8_t effects, std::uint32_t cause, Threads threads);
  /// True for semaphores, latches and barriers: how many threads pass is a value that they hold.
  bool counts(VariableId object);
  /// Such an object has another count: marks what all operations on it order.
  void other_count(VariableId object, std::uint32_t cause);

 private:
  struct Summaries {
    explicit Summaries(const ChangeContext& context)
        : orders(context.after, context.calls_after), acquires(context.after, context.calls_after) {}
    OrderSummaries orders;
    Acquires acquires;
  };
  const Summaries& summaries();
  void find_counted();

  const ChangeContext& context_;
  Marks& marks_;
  std::unique_ptr<Summaries> summaries_;
  bool counted_known_ = false;
  std::unordered_map<VariableId, std::vector<std::uint32_t>> counted_;  ///< events, by object
};

}  // namespace simrt::impact
