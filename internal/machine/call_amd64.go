//go:build linux && amd64 && !noasm

package machine

import "unsafe"

// call calls code with what [Code.Assemble] says.
//
//go:noescape
func call(code *byte, streams *unsafe.Pointer, whole int, tail uintptr)
