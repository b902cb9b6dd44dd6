//go:build !linux || !amd64 || noasm

package machine

import "unsafe"

// executable is for systems that code is made for.
func executable([]byte, int) ([]byte, error) { return nil, errDenied }

func release([]byte) {}

func call(*byte, *unsafe.Pointer, int, uintptr) { panic("machine: there are no programs to run") }
