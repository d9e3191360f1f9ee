// The line in which a failing program says what is wrong.
#pragma once

#include <string>

namespace simrt::pipeline {

/// How the program ended that said it.
enum class Death { Exit, Signal };

/// What the output says is wrong, in words that are equal for equal failures: without addresses, places,
/// times and the heads of log lines, at most 160 bytes; empty when it says nothing. What only a dying program
/// prints (an assertion, an uncaught exception, the heap's checks) goes before what any program may print
/// about a failure, the first of it. Of the latter a signal is explained by the last line, since those before
/// it did not end the program (they may be intended and in every run), an exit status by the first.
std::string complaint(const std::string& output, Death death);

}  // namespace simrt::pipeline
