package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// big is a graph whose checkpoint takes megabytes, and a session on it.
func big(ctx context.Context, mb int) (*train.Saver, *session.Session, error) {
	g := tf.NewGraph()
	tf.NewVariable(ops.Const(g, make([]float32, mb<<18)), tf.VariableOptions{Name: "v"})
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		return nil, nil, err
	}
	init := tf.InitializeAll(g)
	s, err := session.New(g)
	if err == nil {
		_, err = s.Run(ctx, nil, init)
	}
	return saver, s, err
}

// saveUntil saves, beside steps or not, until that fails, and checks the latest
// checkpoint. It returns the error.
func saveUntil(dir string, mb int, full func()) error {
	ctx := context.Background()
	saver, s, err := big(ctx, mb)
	if err != nil {
		return err
	}
	defer s.Close()
	path := filepath.Join(dir, "m")
	if _, err := saver.SaveStep(ctx, s, path, 0); err != nil {
		return err
	}
	full()
	for step := int64(1); ; step++ {
		p, err := saver.SaveStepAsync(ctx, s, path, step)
		if err == nil {
			_, err = p.Wait(ctx)
		}
		if err == nil {
			_, err = saver.SaveStep(ctx, s, path, step)
		}
		if err == nil {
			continue
		}
		good, e := train.LatestCheckpoint(dir)
		if e == nil {
			e = train.VerifyCheckpoint(good)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*temp*")); e == nil && len(left) > 0 {
			e = fmt.Errorf("left behind: %v", left)
		}
		s.Close()
		return errors.Join(e, leaktest.Find(), said(err))
	}
}

// said prints an error, which is what the test looks at.
func said(err error) error {
	fmt.Println(tf.CodeOf(err), err)
	return nil
}

// fillDisk saves to a file system of 4 MB, in a mount namespace of this process alone,
// until it is full; then it makes the file system read-only.
func fillDisk(dir string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		return err
	}
	defer syscall.Unmount(dir, 0)
	if err := saveUntil(dir, 1, func() {}); err != nil {
		return err
	}
	return saveUntil(filepath.Join(dir), 0, func() {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			fmt.Println(err)
		}
	})
}

// fillLimit saves what is larger than files may be.
func fillLimit(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	return saveUntil(dir, 2, func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
			fmt.Println(err)
		}
	})
}

// TestFullDisk: the error says what the system says, the last good checkpoint is there,
// and nothing else of the save.
func TestFullDisk(t *testing.T) {
	cmd := childOf("limit", t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "File too large") {
		t.Errorf("%v\n%s", err, out)
	}
	if os.Geteuid() != 0 {
		return // a file system can be mounted by root alone
	}
	cmd = childOf("disk", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err = cmd.CombinedOutput()
	if cmd.Process == nil || strings.Contains(string(out), syscall.EPERM.Error()) {
		t.Logf("no file system can be mounted here: %v %s", err, out) // the limit above was tested
		return
	}
	if err != nil || !strings.Contains(string(out), "No space left on device") || !strings.Contains(string(out), "Read-only file system") {
		t.Errorf("%v\n%s", err, out)
	}
}
