// A shared object that is loaded late.
extern "C" __attribute__((noinline)) int work_plugin_small(int n) { return n + 1; }
extern "C" __attribute__((noinline)) int work_plugin_large(int n) { return n + 2; }
extern "C" int plugin_run(int n) { return n > 2 ? work_plugin_large(n) : work_plugin_small(n); }
