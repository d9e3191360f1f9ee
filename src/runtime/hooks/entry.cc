// What the modules call: the entry points of cover/module_abi.h.
#include "cover/module_abi.h"
#include "cover/recorder.h"
#include "intercept/lifecycle.h"
#include "intercept/real.h"

using simrt::runtime::recorder;

extern "C" {

SIMRT_EXPORT void simrt_module_open_1(simrt_module* module) {
  // The main program's constructors are the first moment at which an exit handler of ours runs before the
  // loader's, which calls the destructors of all modules.
  if (recorder.open_module(module)) simrt::runtime::watch_exit();
}

SIMRT_EXPORT void simrt_module_close_1(simrt_module* module) { recorder.close_module(module); }
}
