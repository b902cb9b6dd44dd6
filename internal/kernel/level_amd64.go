//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// Levels returns the levels that this processor has, the best first.
func Levels() (out []Level) {
	x := cpu.X86
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2 {
		out = append(out, AVX512)
	}
	if x.HasAVX2 && x.HasFMA && x.HasBMI2 {
		out = append(out, AVX2)
	}
	return append(out, Portable)
}
