#include "detect/atomicity.h"

namespace simrt::rt::detect {

void note_shared(Thread&, Granule&, uint64_t, uintptr_t, Site) {}

}  // namespace simrt::rt::detect
