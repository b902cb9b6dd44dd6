package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestRemoveSocket: the socket of a server that has died is removed, that of one that lives
// is not, nor another file.
func TestRemoveSocket(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	lis, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	if err := removeSocket(name); tf.CodeOf(err) != tf.AlreadyExists {
		t.Errorf("of a server that lives: %v", err)
	}
	if _, err := os.Lstat(name); err != nil {
		t.Error(err)
	}
	lis.(*net.UnixListener).SetUnlinkOnClose(false)
	lis.Close()
	if err := removeSocket(name); err != nil {
		t.Errorf("of a server that has died: %v", err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeSocket(name); tf.CodeOf(err) != tf.AlreadyExists {
		t.Errorf("a file: %v", err)
	}
}
