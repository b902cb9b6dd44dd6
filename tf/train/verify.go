package train

import (
	"errors"
	"log/slog"
	"slices"
	"syscall"

	"github.com/gorge-tf/gorge/tf"
)

// Verify reads all values of the checkpoint, one tensor at a time, and returns the
// first error: DataLoss for bytes that are not those which were written, OutOfRange for
// a file that has been cut off.
func (r *CheckpointReader) Verify() error {
	if r == nil {
		return errNoReader
	}
	for _, v := range r.Variables() {
		if _, err := r.Tensor(v.Name); err != nil {
			return err
		}
	}
	return nil
}

// VerifyCheckpoint reads all of a checkpoint, that of a name or the latest one of a
// directory. See [CheckpointReader.Verify].
func VerifyCheckpoint(path string) error {
	r, err := OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Verify()
}

// LastGoodCheckpoint returns the name of the newest checkpoint of a directory that is
// whole, for when the latest one is damaged: it verifies those that the state file
// lists, the last one first. It fails with NotFound, and with what is wrong with the
// newest, if there is none.
func LastGoodCheckpoint(dir string) (string, error) {
	s, err := ReadCheckpointState(dir)
	if err != nil {
		return "", err
	}
	if s == nil {
		return "", tf.Errorf(tf.NotFound, "Couldn't find 'checkpoint' file or checkpoints in given directory %s", dir)
	}
	var first error
	for _, path := range s.newestFirst() {
		err := VerifyCheckpoint(path)
		if err == nil {
			return path, nil
		}
		slog.Warn("a checkpoint is damaged", "checkpoint", path, "error", err)
		if first == nil {
			first = err
		}
	}
	return "", tf.Errorf(tf.NotFound, "%s must have a checkpoint that is whole, but the newest fails: %v", dir, first)
}

// newestFirst returns the names of the checkpoints, the latest one first.
func (s *CheckpointState) newestFirst() []string {
	names := []string{s.Latest}
	for _, path := range slices.Backward(s.All) {
		if path != s.Latest {
			names = append(names, path)
		}
	}
	return names
}

// damage returns what is wrong with the files of a checkpoint that could not be
// restored: one is missing, cut off, unreadable, or fails its checksum. It is nil if the
// files are whole, so that the failure has to do with the graph, and for errors that do
// not tell: those of lost tasks, of permissions, of a lack of memory.
func damage(path string, failed error) error {
	if !mayBeDamage(failed) {
		return nil
	}
	if err := VerifyCheckpoint(path); mayBeDamage(err) {
		return err
	}
	return nil
}

// mayBeDamage reports whether reading a damaged file can fail so. A missing index is
// InvalidArgument for a Saver, NotFound for a reader.
func mayBeDamage(err error) bool {
	switch tf.CodeOf(err) {
	case tf.DataLoss, tf.OutOfRange, tf.NotFound, tf.Internal, tf.InvalidArgument:
		return true
	}
	return errors.Is(err, syscall.EIO)
}
