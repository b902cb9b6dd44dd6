//go:build unix

package main

import (
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	"github.com/gorge-tf/gorge/internal/secure/securetest"
)

// TestModelServerHangup: a server that looks at its files at SIGHUP only does so then.
func TestModelServerHangup(t *testing.T) {
	s := startSecured(t, "--tls_reload=-1s")
	cc := s.dial(t, credentials.NewTLS(s.client(t, "runner")))
	securetest.Write(t, s.roles, []byte("observe runner\n"))
	for range 10 {
		if got := callCode(t.Context(), cc, 1); refusedCode(got) {
			t.Fatalf("before the signal: %v", got)
		}
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for callCode(t.Context(), cc, 1) != codes.PermissionDenied {
		if t.Context().Err() != nil {
			t.Fatal("the roles have not been read again")
		}
	}
}
