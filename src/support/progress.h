// Progress of counted work: a redrawn bar on a terminal, an occasional plain line elsewhere, nothing when
// quiet.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace simrt {

/// What a progress line shows, apart from how and when.
struct ProgressState {
  std::string label = {};  ///< "tests"
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: unknown, no bar and no time left
  double work_done = 0;     ///< in any unit; predicts the time left better than counts
  double work_total = 0;    ///< 0: use the counts
  double elapsed_seconds = 0;
  std::string current = {};  ///< what was finished last
};

/// "tests [#####     ] 51/102  12.3/s  0:04 left  name", cut to `width` columns.
std::string format_progress(const ProgressState& state, unsigned width);
/// "tests: 51 of 102 (50 %), 0:04 left", for logs.
std::string format_progress_line(const ProgressState& state);
/// "0:04", "12:34", "1:02:03".
std::string format_duration(double seconds);

/// Thread-safe. Draws at most ten times a second on a terminal; elsewhere a line at most every ten seconds.
class Progress {
 public:
  /// `total_work` > 0: advance() passes work in that unit (such as recorded seconds).
  Progress(std::string label, std::uint64_t total, double total_work = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more item is done.
  void advance(std::string_view current = {}, double work = 0);
  /// Removes the bar; later calls of advance() draw nothing. The destructor does it, too.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now);

  std::mutex mutex_;
  ProgressState state_;
  Clock::time_point start_;
  Clock::time_point last_drawn_;
  bool finished_ = false;
};

}  // namespace simrt
