//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestModelServerHangupModels: a server without certificates, which looks at its model
// config file at the start only, reads it again at SIGHUP and serves on.
func TestModelServerHangupModels(t *testing.T) {
	base, err := filepath.Abs(halfModel)
	if err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprintf("config { name: 'a' base_path: %q model_platform: 'tensorflow' }", base)
	file := writeFile(t, "model_config_list { "+one+" }")
	s := startModelServer(t, "--model_config_file="+file, "--rest_api_port=-1")
	status := func(model string) int {
		r, err := http.Get(s.rest + "/v1/models/" + model)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode
	}
	if err := os.WriteFile(file, []byte("model_config_list { "+one+strings.Replace(one, "'a'", "'b'", 1)+" }"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := status("b"); got != http.StatusNotFound {
		t.Fatalf("before the signal: %d", got)
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for status("b") != http.StatusOK {
		if t.Context().Err() != nil {
			t.Fatal("the model config file has not been read again")
		}
		time.Sleep(time.Millisecond)
	}
	if got := status("a"); got != http.StatusOK {
		t.Errorf("the model that was there: %d", got)
	}
}
