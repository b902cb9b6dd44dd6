//go:build !noasm

package kernel

// secondLevelCache returns the bytes of the cache that one core has to
// itself, 1 MiB if the processor does not say.
func secondLevelCache() int {
	for _, leaf := range []uint32{4, 0x8000001d} { // Intel's, AMD's
		if n := cacheSize(leaf, 2); n > 0 {
			return n
		}
	}
	return 1 << 20
}

// cacheSize looks through the caches that a CPUID leaf describes for a data
// cache of this level.
func cacheSize(leaf, level uint32) int {
	if highest, _, _, _ := cpuid(leaf&0x80000000, 0); highest < leaf {
		return 0
	}
	for i := range uint32(16) {
		eax, ebx, ecx, _ := cpuid(leaf, i)
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
