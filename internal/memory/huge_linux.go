package memory

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeLeast is the size of the smallest block that is advised to the system. The
// heap's mapping is cut where advice begins and ends; by a bound that grows with the
// machine's memory the cuts stay well below the 65,530 mappings that Linux allows.
var hugeLeast = sync.OnceValue(func() int { return max(4<<20, int(machine()/(16<<10))) })

// adviseHuge asks the system to back a large block by huge pages, before it is touched
// for the first time: loops over it miss fewer translations of addresses, hardware
// prefetching does not end every 4 KiB, and there are fewer page faults. It is a hint;
// a system that has none of them loses nothing. The advice stays with the addresses
// when the block is collected.
func adviseHuge(p unsafe.Pointer, n int) {
	if n < hugeLeast() {
		return
	}
	_ = unix.Madvise(wholePages(p, n), unix.MADV_HUGEPAGE)
}
