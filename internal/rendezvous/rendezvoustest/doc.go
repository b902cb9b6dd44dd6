// Package rendezvoustest checks implementations of rendezvous.Transport: one
// suite that all have to pass, a transport within the process, and transports
// that misbehave on purpose.
package rendezvoustest
