// Messages to people, on stderr, in one style: "warning: ...", "error: ..." with "  hint: ..." below.
// Results of commands go to stdout and are not this file's business.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "support/result.h"

namespace simrt::log {

/// Quiet: errors only. Normal: warnings and what is going on. Verbose: details, too.
enum class Verbosity : std::uint8_t { Quiet, Normal, Verbose };

void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

enum class Level : std::uint8_t { Error, Warning, Info, Detail };

/// Writes one message when the verbosity admits it; lines after the first are indented. Thread-safe: messages
/// never mix, and the status line is redrawn below them.
void write(Level level, std::string_view message);

/// An error with its hint.
void error(const Error& error);

template <class... Arguments>
void warning(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::Warning, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write(Level::Info, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void detail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (verbosity() == Verbosity::Verbose) {
    write(Level::Detail, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
}

/// The line that stays at the bottom of a terminal (a progress bar); empty removes it. Thread-safe. Without
/// effect unless terminal().
void set_status_line(std::string_view line);

/// True when stderr is a terminal that can redraw a line.
bool terminal();
/// Columns of the terminal, 80 when unknown.
unsigned terminal_width();

/// Sends everything to another stream (tests); null: back to stderr. `as_terminal` overrides the detection.
void redirect(std::FILE* stream, bool as_terminal = false);

}  // namespace simrt::log
