package parsing_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
)

// TestDescriptorsInPipe: a pipe without a writer is no source of descriptors. Nothing could
// end the wait for one.
func TestDescriptorsInPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		x := ops.Const(eager.New(), []string{""})
		sizes, _ := parsing.DecodeProtoV2(x, "a.B", []string{"c"}, []tf.DType{tf.Int32}, parsing.ProtoOpts{DescriptorSource: path})
		_, err := sizes.Value()
		done <- err
	}()
	select {
	case err := <-done:
		if core.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("a pipe must be refused with INVALID_ARGUMENT, got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("a pipe as a source of descriptors is waited for without end")
	}
}
