package memory

import "sync"

// unknownPhysical stands for the memory of a machine that does not tell: more
// than any has for one tensor, less than a Go program can ask for and survive.
const unknownPhysical = 1 << 38

// Physical returns the bytes of memory that the machine has. Asking Go for more
// ends the process, so that who allocates on behalf of others asks here first.
var Physical = sync.OnceValue(physical)
