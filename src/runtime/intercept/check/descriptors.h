// What goes through a descriptor orders threads: who reads comes behind who wrote. Pipes by their inode (both
// ends have it), event counters and timers by descriptor, sockets all alike: where a peer's data goes nobody
// sees. Regular files and terminals order nothing.
#pragma once

namespace simrt::rt {

/// Before something is written to the descriptor, or it is closed.
void descriptor_written(int fd);
/// Something was read from it.
void descriptor_read(int fd);
/// Some descriptor was found ready; which one does not matter: behind whatever was written to any.
void descriptors_ready();

}  // namespace simrt::rt
