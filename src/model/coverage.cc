#include "model/coverage.h"

namespace simrt {
namespace {

/// Role of the one thread that covered `block`, "several", or empty.
std::string coverer(const TestCoverage& coverage, BlockNumber block) {
  if (coverage.several.contains(block)) return "several";
  for (const ThreadCoverage& thread : coverage.single)
    if (thread.blocks.contains(block)) return thread.role;
  return {};
}

}  // namespace

bool TestCoverage::covers(BlockNumber block) const {
  if (several.contains(block)) return true;
  for (const ThreadCoverage& thread : single)
    if (thread.blocks.contains(block)) return true;
  return false;
}

bool TestCoverage::covers_with_two_threads(BlockNumber b1, BlockNumber b2) const {
  const bool several1 = several.contains(b1), several2 = several.contains(b2);
  if (several1 && several2) return true;
  if (several1) return covers(b2);
  if (several2) return covers(b1);
  if (b1 == b2) return false;
  const ThreadCoverage* t1 = nullptr;
  const ThreadCoverage* t2 = nullptr;
  for (const ThreadCoverage& thread : single) {
    if (thread.blocks.contains(b1)) t1 = &thread;
    if (thread.blocks.contains(b2)) t2 = &thread;
  }
  return t1 && t2 && t1 != t2;
}

std::pair<std::string, std::string> TestCoverage::witness(BlockNumber b1, BlockNumber b2) const {
  return {coverer(*this, b1), coverer(*this, b2)};
}

BlockSet TestCoverage::all() const {
  BlockSet result = several;
  for (const ThreadCoverage& thread : single) result |= thread.blocks;
  return result;
}

}  // namespace simrt
