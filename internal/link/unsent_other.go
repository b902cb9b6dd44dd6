//go:build unix && !linux

package link

// unsentBytes would say how many bytes of a socket its peer has not acknowledged. What
// a TLS connection is given is written by a goroutine here.
func unsentBytes(int) int { return 1 }
