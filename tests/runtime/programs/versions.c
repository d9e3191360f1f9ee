// Function versions are chosen by resolvers that run during relocation, before any constructor. The resolver
// here is the program's own and instrumented.
#include <threads.h>

static volatile int sink;
__attribute__((noinline)) int work_chosen(int n) { return sink += n; }
static int (*resolve_version(void))(int) { return work_chosen; }
int version(int n) __attribute__((ifunc("resolve_version")));

__attribute__((noinline)) int work_alpha(int n) { return sink += n; }
static int routine(void* argument) {
  (void)argument;
  return work_alpha(1) != 0 ? 0 : 1;
}

int main(void) {
  thrd_t thread;
  int result = 1;
  if (thrd_create(&thread, routine, 0) != thrd_success) return 1;
  thrd_join(thread, &result);
  return version(1) > 0 ? result : 1;
}
