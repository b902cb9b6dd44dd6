//go:build !noasm

package random

import "golang.org/x/sys/cpu"

func init() {
	for _, s := range instructionSets() {
		if s.available {
			simd = s.loops
			return
		}
	}
}

// An instructionSet has the loops that were written for it.
type instructionSet struct {
	name      string
	available bool
	loops     vectorLoops
}

// instructionSets lists them, the best first.
func instructionSets() []instructionSet {
	x := cpu.X86
	return []instructionSet{
		{"avx512", x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL, vectorLoops{
			order: []uint64{0, 4, 1, 5, 2, 6, 3, 7}, words: wordsAVX512, uniforms: uniformsAVX512, normals: normalsAVX512,
		}},
		{"avx2", x.HasAVX2, vectorLoops{
			order: []uint64{0, 2, 1, 3}, words: wordsAVX2, uniforms: uniformsAVX2, normals: normalsAVX2,
		}},
	}
}
