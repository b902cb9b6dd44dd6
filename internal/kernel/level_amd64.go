//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// Levels returns the levels that this processor has, the best first.
func Levels() (out []Level) {
	x := cpu.X86
	_, _, features, _ := cpuid(1, 0)
	f16c := features>>29&1 != 0
	if f16c && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2 {
		out = append(out, AVX512)
	}
	if f16c && x.HasAVX2 && x.HasFMA && x.HasBMI2 {
		out = append(out, AVX2)
	}
	return append(out, Portable)
}
