// What recording costs is paid per basic block, so the kernels differ in how much they do between two
// branches: from a parser that takes one a byte to hashing and sorting through the standard library. Prints,
// for each kernel, the least processor time of `rounds` runs in milliseconds.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

class Random {
 public:
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

 private:
  std::uint64_t state_ = 88172645463325252u;
};

std::string make_document() {
  Random random;
  std::string text = "[";
  for (int i = 0; i < 4000; ++i) {
    if (i != 0) text += ',';
    text += "{\"key" + std::to_string(random.next() % 97) + "\": [" + std::to_string(random.next()) +
            ", \"v\\n" + std::to_string(random.next()) + "\", true, null, -1.5e3]}";
  }
  return text + "]";
}

// A recursive-descent parser: a branch or two a byte.
class Parser {
 public:
  explicit Parser(const std::string& text) : at_(text.c_str()) {}
  std::uint64_t parse() { return value() ? hash_ : 0; }

 private:
  void space() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t') ++at_;
  }
  bool word(const char* text) {
    for (; *text != '\0'; ++text, ++at_) {
      if (*at_ != *text) return false;
      hash_ = hash_ * 31 + static_cast<unsigned char>(*text);
    }
    return true;
  }
  bool value() {
    space();
    switch (*at_) {
      case '{':
        return sequence('}', true);
      case '[':
        return sequence(']', false);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }
  bool number() {
    const char* start = at_;
    if (*at_ == '-') ++at_;
    while ((*at_ >= '0' && *at_ <= '9') || *at_ == '.' || *at_ == 'e')
      hash_ = hash_ * 31 + static_cast<unsigned char>(*at_++);
    return at_ != start;
  }
  bool string() {
    for (++at_; *at_ != '"'; ++at_) {
      if (*at_ == '\0') return false;
      if (*at_ == '\\') ++at_;
      hash_ = hash_ * 131 + static_cast<unsigned char>(*at_);
    }
    ++at_;
    return true;
  }
  bool sequence(char close, bool keys) {
    for (++at_;;) {
      space();
      if (keys && (!string() || *at_++ != ':')) return false;
      if (!value()) return false;
      space();
      if (*at_ == close) return ++at_, true;
      if (*at_++ != ',') return false;
    }
  }

  const char* at_;
  std::uint64_t hash_ = 0;
};

std::uint64_t parse(const std::string& document) { return Parser(document).parse(); }

// LZ77 with a hash table: short inner loops, unpredictable branches.
std::uint64_t compress(const std::string& document) {
  std::vector<std::uint32_t> table(1 << 13, 0);
  std::uint64_t checksum = 0;
  const auto slot = [&](std::size_t i) {
    std::uint32_t word;
    std::memcpy(&word, document.data() + i, sizeof word);
    return (word * 2654435761u) >> 19;
  };
  for (std::size_t i = 0; i + 4 < document.size();) {
    const std::uint32_t h = slot(i);
    const std::size_t candidate = table[h];
    table[h] = static_cast<std::uint32_t>(i);
    std::size_t length = 0;
    if (candidate < i && i - candidate < 65535) {
      while (i + length < document.size() && length < 255 &&
             document[candidate + length] == document[i + length])
        ++length;
    }
    checksum = checksum * 31 + (length >= 4 ? length : static_cast<unsigned char>(document[i]));
    i += length >= 4 ? length : 1;
  }
  return checksum;
}

// Skip list: pointer chasing.
class SkipList {
 public:
  bool insert(std::uint32_t key) {
    std::array<Node*, kHeight> before;
    Node* next = find(key, &before);
    if (next != nullptr && next->key == key) return false;
    nodes_.push_back(std::make_unique<Node>());
    Node* node = nodes_.back().get();
    node->key = key;
    const int height = random_height();
    for (int level = 0; level < height; ++level) {
      node->next[level] = before[level]->next[level];
      before[level]->next[level] = node;
    }
    return true;
  }
  bool contains(std::uint32_t key) {
    const Node* next = find(key, nullptr);
    return next != nullptr && next->key == key;
  }

 private:
  static constexpr int kHeight = 10;
  struct Node {
    std::uint32_t key = 0;
    std::array<Node*, kHeight> next = {};
  };
  Node* find(std::uint32_t key, std::array<Node*, kHeight>* before) {
    Node* node = &head_;
    for (int level = kHeight - 1;; --level) {
      while (node->next[level] != nullptr && node->next[level]->key < key) node = node->next[level];
      if (before != nullptr) (*before)[level] = node;
      if (level == 0) return node->next[0];
    }
  }
  int random_height() {
    int height = 1;
    while (height < kHeight && random_.next() % 4 == 0) ++height;
    return height;
  }
  Node head_;
  std::vector<std::unique_ptr<Node>> nodes_;
  Random random_;
};

std::uint64_t skip_list(const std::string&) {
  SkipList list;
  Random random;
  std::uint64_t found = 0;
  for (int i = 0; i < 2000; ++i) found += list.insert(random.next() % 4096);
  for (int i = 0; i < 20000; ++i) found += list.contains(random.next() % 4096);
  return found;
}

// Mostly the standard library's templates, compiled (and instrumented) here.
std::uint64_t containers(const std::string& document) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i + 16 < document.size(); i += 97) words.push_back(document.substr(i, 12));
  std::sort(words.begin(), words.end());
  std::unordered_map<std::string, int> counts;
  std::map<std::string, int> ordered;
  for (const std::string& word : words) {
    ++counts[word];
    ++ordered[word];
  }
  return counts.size() + ordered.size();
}

// Two threads and a bounded queue: what a concurrent test looks like.
std::uint64_t queue(const std::string&) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> items;
  std::uint64_t sum = 0;
  std::thread consumer([&] {
    for (int taken = 0; taken < 5000; ++taken) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !items.empty(); });
      sum += static_cast<std::uint64_t>(items.front());
      items.pop_front();
      changed.notify_one();
    }
  });
  for (int i = 0; i < 5000; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return items.size() < 64; });
    items.push_back(i);
    changed.notify_one();
  }
  consumer.join();
  return sum;
}

double processor_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::string document = make_document();
  const std::pair<const char*, std::uint64_t (*)(const std::string&)> kernels[] = {{"parse", parse},
                                                                                   {"compress", compress},
                                                                                   {"skip_list", skip_list},
                                                                                   {"containers", containers},
                                                                                   {"queue", queue}};
  std::uint64_t checksum = 0;
  for (const auto& [name, run] : kernels) {
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
      const double start = processor_milliseconds();
      checksum += run(document);
      best = std::min(best, processor_milliseconds() - start);
    }
    std::printf("%s %.4f\n", name, best);
  }
  std::fprintf(stderr, "%llx\n", static_cast<unsigned long long>(checksum));
}
