//go:build !noasm

package kernel

// CPUID asks the processor about itself by the instruction of that name.
func CPUID(leaf, sub uint32) (eax, ebx, ecx, edx uint32) { return cpuid(leaf, sub) }

// zen4 is the family of AMD's processors whose first ones with AVX-512 are Zen 4.
const zen4 = 0x19

// halves says whether the processor runs operations on 512 bits in two halves.
var halves = Levels()[0] == AVX512 && amdFamily() == zen4

// amdFamily returns the family of an AMD processor, 0 of others.
func amdFamily() uint32 {
	const auth, enti, cAMD = 0x68747541, 0x69746e65, 0x444d4163 // AuthenticAMD
	if _, b, c, d := cpuid(0, 0); b != auth || d != enti || c != cAMD {
		return 0
	}
	version, _, _, _ := cpuid(1, 0)
	family := version >> 8 & 0xf
	if family == 0xf {
		family += version >> 20 & 0xff
	}
	return family
}

// ByMemory returns the form that serves level [AVX512] of a loop that waits for memory
// more than for arithmetic. Where operations on 512 bits run in halves they compute no
// faster, and operations on 256 bits read memory faster: the processor sees two accesses
// to each cache line, and fetches ahead sooner.
func ByMemory[T any](avx2, avx512 T) T {
	if halves {
		return avx2
	}
	return avx512
}
