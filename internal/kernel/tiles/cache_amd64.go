//go:build !noasm

package tiles

import "github.com/gorge-tf/gorge/internal/kernel"

// Caches are the bytes of the caches of one core.
type Caches struct{ First, Second int }

// DataCaches returns the sizes of the caches that one core has to itself, or
// common ones if the processor does not say.
func DataCaches() Caches {
	for _, leaf := range []uint32{4, 0x8000001d} { // Intel's, AMD's
		c := Caches{First: cacheSize(leaf, 1), Second: cacheSize(leaf, 2)}
		if c.First > 0 && c.Second > 0 {
			return c
		}
	}
	return Caches{First: 32 << 10, Second: 1 << 20}
}

// cacheSize looks through the caches that a CPUID leaf describes for a data
// cache of this level.
func cacheSize(leaf, level uint32) int {
	if highest, _, _, _ := kernel.CPUID(leaf&0x80000000, 0); highest < leaf {
		return 0
	}
	for i := range uint32(16) {
		eax, ebx, ecx, _ := kernel.CPUID(leaf, i)
		kind := eax & 31
		if kind == 0 {
			return 0
		}
		if kind != 2 && eax>>5&7 == level { // 2 is an instruction cache
			ways, partitions, line := ebx>>22+1, ebx>>12&0x3ff+1, ebx&0xfff+1
			return int(ways * partitions * line * (ecx + 1))
		}
	}
	return 0
}
