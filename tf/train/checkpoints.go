package train

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// LatestCheckpoint returns the name of the latest checkpoint of a directory, as
// its state file has it, "" if there is none. latestFilename is the name of that file,
// "checkpoint" if none is given.
func LatestCheckpoint(dir string, latestFilename ...string) (string, error) {
	s, err := ReadCheckpointState(dir, latestFilename...)
	if err != nil || s == nil {
		return "", err
	}
	if !CheckpointExists(s.Latest) {
		slog.Error("Couldn't match files for checkpoint " + s.Latest)
		return "", nil
	}
	return s.Latest, nil
}

// CheckpointExists reports whether there is a checkpoint of that name, in either
// format.
func CheckpointExists(path string) bool {
	_, err := checkpointTime(path)
	return err == nil
}

// checkpointTime returns when the file was written that stands for a checkpoint.
func checkpointTime(path string) (time.Time, error) {
	info, err := checkpointFile(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// checkpointFile returns the file that stands for a checkpoint: the index, or the only
// file of the older format.
func checkpointFile(path string) (fs.FileInfo, error) {
	path = core.LocalPath(path)
	for _, name := range []string{path + ".index", path} {
		info, err := os.Stat(name)
		switch {
		case err == nil && info.Mode().IsRegular():
			return info, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, core.FileError(name, err)
		}
	}
	return oldShards(path)
}

// oldShards is checkpointFile for the files of the older format that have been
// written by several devices: path is a pattern, as in "model-?????-of-00002".
func oldShards(pattern string) (fs.FileInfo, error) {
	if names, err := filepath.Glob(pattern); err == nil && len(names) > 0 {
		if info, err := os.Stat(names[0]); err == nil && info.Mode().IsRegular() {
			return info, nil
		}
	}
	return nil, tf.Errorf(tf.NotFound, "%s; No such file or directory", pattern)
}

// sameCheckpoint reports whether two names mean the same files: one may be relative and
// the other absolute, or lead through a link.
func sameCheckpoint(a, b string) bool {
	if a == b || filepath.Base(a) != filepath.Base(b) {
		return a == b
	}
	x, err := checkpointFile(a)
	if err != nil {
		return false
	}
	y, err := checkpointFile(b)
	return err == nil && os.SameFile(x, y)
}

// RemoveCheckpoint deletes the files of a checkpoint, of either format, with its
// MetaGraph. It is no error if there are none.
func RemoveCheckpoint(path string) error { return removeCheckpoint(path, "meta") }

func removeCheckpoint(path, metaSuffix string) error {
	path = core.LocalPath(path)
	// The index goes first: without it there is no checkpoint.
	err := bundle.Remove(path)
	for _, name := range []string{path, path + "." + metaSuffix} {
		if info, e := os.Stat(name); e == nil && info.Mode().IsRegular() {
			if e := os.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) && err == nil {
				err = core.FileError(name, e)
			}
		}
	}
	return err
}

// LastCheckpoints returns the names of the checkpoints that the saver has
// written and not deleted yet, oldest first.
func (s *Saver) LastCheckpoints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths()
}

func (s *Saver) paths() (out []string) {
	for _, c := range s.last {
		out = append(out, c.path)
	}
	return out
}

// RecoverLastCheckpoints makes checkpoints that another process has written this
// saver's: those that are there count for MaxToKeep, with the times of their
// files.
func (s *Saver) RecoverLastCheckpoints(paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
	for _, p := range paths {
		if t, err := checkpointTime(p); err == nil {
			s.last = append(s.last, saved{p, t})
		}
	}
}

// note puts a new checkpoint into the state file and deletes one that is over
// the limit.
func (s *Saver) note(dir, name string, o SaveOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(name)
	state := CheckpointState{Latest: name, All: s.paths()}
	if s.o.SaveRelativePaths {
		state.Latest = shortened(dir, name)
		for i, p := range state.All {
			state.All[i] = shortened(dir, p)
		}
		if err := state.writeAsIs(dir, o.LatestFilename); err != nil {
			return err
		}
	} else if err := state.Write(dir, o.LatestFilename); err != nil {
		return err
	}
	s.deleteOld(o.MetaGraphSuffix)
	return nil
}

// shortened returns a path relative to dir.
func shortened(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

// record adds a checkpoint to those that are kept.
func (s *Saver) record(name string) {
	limit := int(s.def.GetMaxToKeep())
	if limit <= 0 {
		return
	}
	// One of that name may still wait to be deleted, if the state could not be written.
	s.doomed = slices.DeleteFunc(s.doomed, func(c saved) bool { return sameCheckpoint(c.path, name) })
	for i, c := range s.last {
		if sameCheckpoint(c.path, name) { // written over again
			s.last = append(s.last[:i:i], s.last[i+1:]...)
			break
		}
	}
	s.last = append(s.last, saved{name, time.Now()})
	if len(s.last) > limit {
		s.doomed = append(s.doomed, s.last[0])
		s.last = s.last[1:]
	}
}

// deleteOld deletes a checkpoint that is over the limit, unless it is the one
// that is kept of some hours.
func (s *Saver) deleteOld(metaSuffix string) {
	if len(s.doomed) == 0 {
		return
	}
	c := s.doomed[0]
	s.doomed = s.doomed[1:]
	if c.at.After(s.nextKeep) {
		s.nextKeep = s.keepAfter(s.nextKeep)
		return
	}
	if err := removeCheckpoint(c.path, metaSuffix); err != nil {
		slog.Warn("an old checkpoint could not be deleted", "path", c.path, "error", err)
	}
}

// keepAfter returns when the next checkpoint is to be kept for good.
func (s *Saver) keepAfter(t time.Time) time.Time {
	const longest = 100 * 365 * 24 * time.Hour
	d := float64(s.def.GetKeepCheckpointEveryNHours()) * float64(time.Hour)
	return t.Add(time.Duration(min(d, float64(longest))))
}

// CheckpointsOptions adjust [CheckpointsIterator].
type CheckpointsOptions struct {
	LatestFilename string
	// MinInterval is the least time between two checkpoints that are returned.
	MinInterval time.Duration
	// Timeout is how long to wait for a new checkpoint; 0: for ever. Then TimedOut
	// says whether to stop waiting; nil: yes.
	Timeout  time.Duration
	TimedOut func() bool
	// Poll is how often to look; 0: every second.
	Poll time.Duration
}

// CheckpointsIterator returns the checkpoints of a directory as they appear, each
// once, and the latest one first. Those between are left out if several appear at
// once. It ends with ctx, or when none has come for too long.
func CheckpointsIterator(ctx context.Context, dir string, o CheckpointsOptions) iter.Seq[string] {
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	return func(yield func(string) bool) {
		if err := core.NeedContext(ctx, "CheckpointsIterator"); err != nil {
			slog.Warn("waiting for a checkpoint", "error", err)
			return
		}
		last := ""
		for {
			next, ok := o.await(ctx, dir, last)
			if !ok {
				return
			}
			if next == "" {
				continue
			}
			began := time.Now()
			if last = next; !yield(next) || !pause(ctx, o.MinInterval-time.Since(began)) {
				return
			}
		}
	}
}

// await waits for a checkpoint other than last. It returns "" when it may go on
// waiting.
func (o *CheckpointsOptions) await(ctx context.Context, dir, last string) (string, bool) {
	var end time.Time
	if o.Timeout > 0 {
		end = time.Now().Add(o.Timeout)
	}
	for ctx.Err() == nil {
		next, err := LatestCheckpoint(dir, o.LatestFilename)
		if err != nil {
			slog.Warn("waiting for a checkpoint", "error", err)
		}
		if next != "" && next != last {
			return next, true
		}
		if !end.IsZero() && time.Now().Add(o.Poll).After(end) {
			return "", o.TimedOut != nil && !o.TimedOut() && pause(ctx, o.Poll)
		}
		if !pause(ctx, o.Poll) {
			break
		}
	}
	return "", false
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
