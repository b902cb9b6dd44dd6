//go:build linux && amd64 && !noasm

#include "textflag.h"

// func call(code *byte, streams *unsafe.Pointer, whole int, tail uintptr)
TEXT ·call(SB), NOSPLIT, $0-32
	MOVQ code+0(FP), AX
	MOVQ streams+8(FP), SI
	MOVQ whole+16(FP), CX
	MOVQ tail+24(FP), DX
	CALL AX
	VZEROUPPER
	RET
