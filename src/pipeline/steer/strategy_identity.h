// Which set of strategies this tool has: what an earlier set left nothing to do for, another one may find
// more in.
#pragma once

namespace simrt::pipeline {

/// A hash of all code that decides what a program runs next, what is learned from it and what counts as a
/// failure (steering, execution, schedule, and the engine in the tested program), without comments and white
/// space; made at build time (hash_sources.cmake), so that nobody has to raise a number. 16 hexadecimal
/// digits.
const char* strategy_identity();

}  // namespace simrt::pipeline
