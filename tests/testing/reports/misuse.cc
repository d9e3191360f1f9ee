#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int guarded;
static std::atomic<int> counter;
static void reader() {
  pthread_rwlock_rdlock(&lock);
  ++guarded;
  pthread_rwlock_unlock(&lock);
}
int main() {
  std::thread a(reader), b(reader);
  a.join(), b.join();
  char* block = static_cast<char*>(std::malloc(16));
  std::thread c([&] {
    std::memset(block, 1, 8);
    std::atomic_ref<int>(guarded).fetch_add(1);
  });
  std::thread d([&] {
    std::free(block);
    guarded = 2;
  });
  c.join(), d.join();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_unlock(&mutex);
  return counter;
}
