"""A synthetic project for the benchmark of the selection: one header with locked, shared data and N units that use it.

The units look like application code: standard containers, several functions with branches and locks, a thread. The
change edits two function bodies, one in the header and one in a unit; no declaration changes.
"""
import json
import os
import subprocess

HEADER = """#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

class Registry {
 public:
  void put(int key, const std::string& value) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (values_.count(key) == 0) ++size_;
    values_[key] = value;
    changed_.notify_all();
  }
  std::string get(int key) {
    std::lock_guard<std::mutex> guard(mutex_);
    auto found = values_.find(key);
    return found == values_.end() ? std::string() : found->second;
  }
  int size() {
    %s
    return size_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::string> values_;
  int size_ = 0;
};
Registry& registry();
"""

UNIT = """#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "registry.h"

namespace unit%(n)d {
std::mutex mutex;
std::vector<int> queue;
int total = 0;

int take() {
  std::lock_guard<std::mutex> guard(mutex);
  if (queue.empty()) return -1;
  const int last = queue.back();
  queue.pop_back();
  %(body)s
  return last;
}
void fill(int count) {
  for (int i = 0; i < count; ++i) {
    std::lock_guard<std::mutex> guard(mutex);
    queue.push_back(i * %(n)d);
    if (i %% 3 == 0) std::sort(queue.begin(), queue.end());
  }
}
std::string describe() {
  std::string text;
  for (int key = 0; key < registry().size(); ++key) {
    const std::string value = registry().get(key);
    if (!value.empty()) text += value + ";";
  }
  return text;
}
int run() {
  std::thread worker([] { fill(10); registry().put(%(n)d, "unit"); });
  const int got = take();
  worker.join();
  return got;
}
}  // namespace unit%(n)d
"""

MAIN = "#include \"registry.h\"\nRegistry& registry() { static Registry all; return all; }\n%s"


def write(root, name, text):
    with open(os.path.join(root, name), "w") as file:
        file.write(text)


def git(root, *arguments):
    identity = {"GIT_AUTHOR_NAME": "bench", "GIT_COMMITTER_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@example.org",
                "GIT_COMMITTER_EMAIL": "bench@example.org"}
    subprocess.run(["git", "-C", root, *arguments], check=True, env=dict(os.environ, **identity),
                   stdout=subprocess.DEVNULL)


def sources(units):
    return ["main.cc"] + ["unit%d.cc" % n for n in range(units)]


def write_version(root, units, changed):
    lock = "std::lock_guard<std::mutex> guard(mutex_);"
    write(root, "registry.h", HEADER % ("" if changed else lock))
    for n in range(units):
        write(root, "unit%d.cc" % n, UNIT % {"n": n, "body": "total += last;" if changed and n == 0 else "++total;"})
    calls = "".join("namespace unit%d { int run(); }\n" % n for n in range(units))
    main = "int main() { int sum = 0;\n" + "".join("  sum += unit%d::run();\n" % n for n in range(units))
    write(root, "main.cc", MAIN % (calls + main + "  return sum > 0 ? 0 : 1;\n}\n"))


def create(root, units, compiler):
    """Writes the base and its compile database and commits it."""
    os.makedirs(os.path.join(root, "build"))
    write_version(root, units, changed=False)
    commands = [{"directory": root, "file": os.path.join(root, name), "arguments": [compiler, "-std=c++20", "-O0", "-g",
                 "-c", name, "-o", "build/" + name + ".o"]} for name in sources(units)]
    write(root, "build/compile_commands.json", json.dumps(commands))
    write(root, ".simrt.toml", "")
    write(root, ".gitignore", "/build/\n/.simrt/\n/.simrt.toml\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "base")


def change(root, units):
    write_version(root, units, changed=True)
    git(root, "commit", "-q", "-a", "-m", "bodies")
