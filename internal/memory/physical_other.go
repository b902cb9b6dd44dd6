//go:build !linux

package memory

func physical() int { return unknownPhysical }
