// Work for detectors: kernels that differ in what their accesses look like. Two threads each, which run long
// enough to meet natively, too: what is contended costs more. Prints, for each kernel, the least processor
// time of `rounds` runs in milliseconds. Arguments: rounds, then (for a profiler) the name of the only kernel
// to run.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kThreads = 2;

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(body, t);
  for (auto& thread : threads) thread.join();
}

struct Random {
  std::uint64_t state;
  std::uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  }
};

// Streams over arrays: each word a few times, then the next.
std::uint64_t stencil() {
  std::vector<std::uint32_t> grid(1u << 17), next(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = static_cast<std::uint32_t>(i * 2654435761u);
  for (int step = 0; step < 3; ++step) {
    in_threads([&](int t) {
      const std::size_t part = grid.size() / kThreads, begin = static_cast<std::size_t>(t) * part;
      for (std::size_t i = begin + 1; i + 1 < begin + part; ++i)
        next[i] = grid[i - 1] + 2 * grid[i] + grid[i + 1];
    });
    std::swap(grid, next);
  }
  return grid[grid.size() / 3];
}

// Small private data, over and over.
std::uint64_t sorting() {
  std::vector<std::vector<std::uint32_t>> data(kThreads, std::vector<std::uint32_t>(20000));
  in_threads([&](int t) {
    Random random{static_cast<std::uint64_t>(t) + 1};
    for (auto& value : data[static_cast<std::size_t>(t)]) value = random.next();
    std::sort(data[static_cast<std::size_t>(t)].begin(), data[static_cast<std::size_t>(t)].end());
  });
  return data[0][100];
}

// Pointers, short strings and the heap.
std::uint64_t containers() {
  std::atomic<std::uint64_t> sum{0};
  in_threads([&](int t) {
    Random random{static_cast<std::uint64_t>(t) + 7};
    std::map<std::uint32_t, std::string> tree;
    std::unordered_map<std::string, std::uint32_t> table;
    for (int i = 0; i < 8000; ++i) {
      const std::uint32_t key = random.next() % 1500;
      tree[key] += static_cast<char>('a' + key % 26);
      ++table["key" + std::to_string(key)];
      if (key % 7 == 0) tree.erase(key);
    }
    sum += tree.size() + table.size();
  });
  return sum;
}

// Shared data under locks.
std::uint64_t locked() {
  std::mutex mutex;
  std::shared_mutex shared;
  std::map<std::uint32_t, std::uint64_t> counts;
  std::vector<std::uint64_t> cells(256);
  in_threads([&](int t) {
    Random random{static_cast<std::uint64_t>(t) + 13};
    for (int i = 0; i < 20000; ++i) {
      {
        const std::lock_guard lock(mutex);
        for (int k = 0; k < 4; ++k) ++counts[random.next() % 64];
      }
      if (i % 8 == 0) {
        const std::unique_lock lock(shared);
        ++cells[random.next() % cells.size()];
      } else {
        const std::shared_lock lock(shared);
        volatile std::uint64_t sink = cells[random.next() % cells.size()];
        (void)sink;
      }
    }
  });
  return counts.size() + cells[3];
}

// Counters and reference counts.
std::uint64_t atomics() {
  struct Node {
    std::atomic<int> uses{0};
    std::uint64_t payload[6] = {};
  };
  std::vector<std::shared_ptr<Node>> nodes(64);
  for (auto& node : nodes) node = std::make_shared<Node>();
  std::atomic<std::uint64_t> total{0};
  in_threads([&](int t) {
    Random random{static_cast<std::uint64_t>(t) + 29};
    for (int i = 0; i < 100000; ++i) {
      const std::shared_ptr<Node> node = nodes[random.next() % nodes.size()];
      node->uses.fetch_add(1, std::memory_order_relaxed);
      total.fetch_add(node->payload[i % 6], std::memory_order_relaxed);
    }
  });
  return total + static_cast<std::uint64_t>(nodes[0]->uses);
}

// Byte by byte, with calls.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : at_(text.data()), end_(at_ + text.size()) {}
  std::uint64_t scan() {
    while (at_ != end_) token();
    return hash_;
  }

 private:
  void token() {
    const char c = *at_++;
    if (c >= '0' && c <= '9') {
      number(static_cast<std::uint64_t>(c - '0'));
    } else {
      hash_ = hash_ * 31 + static_cast<unsigned char>(c);
    }
  }
  void number(std::uint64_t value) {
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9')
      value = value * 10 + static_cast<std::uint64_t>(*at_++ - '0');
    hash_ ^= value;
  }
  const char* at_;
  const char* end_;
  std::uint64_t hash_ = 0;
};
std::uint64_t scanning() {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += std::to_string(i * 7) + ",";
  std::uint64_t hash[kThreads] = {};
  in_threads([&](int t) { hash[t] = Scanner(text).scan(); });
  return hash[0] + hash[1];
}

double processor_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::pair<const char*, std::uint64_t (*)()> kernels[] = {
      {"stencil", stencil}, {"sorting", sorting}, {"containers", containers},
      {"locked", locked},   {"atomics", atomics}, {"scanning", scanning}};
  std::uint64_t checksum = 0;
  for (const auto& [name, run] : kernels) {
    if (argc > 2 && std::string(argv[2]) != name) continue;
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
      const double start = processor_milliseconds();
      checksum += run();
      best = std::min(best, processor_milliseconds() - start);
    }
    std::printf("%s %.4f\n", name, best);
  }
  std::fprintf(stderr, "%llx\n", static_cast<unsigned long long>(checksum));
}
