package train

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// CheckpointState is what the file "checkpoint" of a directory says: which
// checkpoints there are, oldest first, and which one is the latest.
type CheckpointState struct {
	Latest string
	All    []string
	// Times are when those of All were written and LastPreserved when the last
	// one was that is kept for good. TensorFlow's Saver writes neither.
	Times         []time.Time
	LastPreserved time.Time
}

// stateFile returns the name of a directory's state file: "checkpoint", unless another
// name is given.
func stateFile(dir string, latestFilename []string) string {
	name := "checkpoint"
	if len(latestFilename) > 0 && latestFilename[0] != "" {
		name = latestFilename[0]
	}
	return filepath.Join(core.LocalPath(dir), name)
}

// ReadCheckpointState returns what the state file of dir says, with paths that
// are relative to dir completed. It is nil, without an error, if there is no such
// file or it cannot be parsed: a warning says why. latestFilename is the
// name of the file, "checkpoint" if none is given. A file that names no checkpoint is an error
// (InvalidArgument), and so is one that is there and cannot be read, where TensorFlow warns:
// training would begin anew, and its checkpoints would take the place of those.
func ReadCheckpointState(dir string, latestFilename ...string) (*CheckpointState, error) {
	name := stateFile(dir, latestFilename)
	data, err := core.ReadRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p pb.CheckpointState
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &p); err != nil {
		slog.Warn(name+": Checkpoint ignored", "error", err)
		return nil, nil
	}
	if p.GetModelCheckpointPath() == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "Invalid checkpoint state loaded from %s", dir)
	}
	return stateFrom(&p, dir), nil
}

func stateFrom(p *pb.CheckpointState, dir string) *CheckpointState {
	whole := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return inDir(dir, path)
	}
	s := &CheckpointState{Latest: whole(p.GetModelCheckpointPath())}
	for _, path := range p.GetAllModelCheckpointPaths() {
		s.All = append(s.All, whole(path))
	}
	for _, t := range p.GetAllModelCheckpointTimestamps() {
		s.Times = append(s.Times, seconds(t))
	}
	if t := p.GetLastPreservedTimestamp(); t != 0 {
		s.LastPreserved = seconds(t)
	}
	return s
}

// isURI reports whether a name has a scheme, as in "file:///dir": a name of that kind is
// not cleaned.
func isURI(name string) bool { return strings.Contains(name, "://") }

// inDir returns the name of a file of a directory.
func inDir(dir, name string) string {
	if isURI(dir) {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// dirOf returns the directory of a file.
func dirOf(name string) string {
	if isURI(name) {
		return name[:strings.LastIndexByte(name, '/')]
	}
	return filepath.Dir(name)
}

// seconds returns the time t seconds after the epoch.
func seconds(t float64) time.Time { return time.UnixMicro(int64(t * 1e6)) }

func secondsOf(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Write makes s what the state file of dir says, in one step: readers see the
// old state or the new one. Latest is added to All if it is not the last there.
// Paths relative to the working directory become relative to dir, if dir is
// relative too. Paths that are not UTF-8 are refused (InvalidArgument), since the file could
// not be read again. latestFilename is the name of the file, "checkpoint" if none is given.
func (s *CheckpointState) Write(dir string, latestFilename ...string) error {
	return s.write(dir, latestFilename, func(path string) string { return belowDir(dir, path) })
}

// writeAsIs is Write with paths that are relative to dir already.
func (s *CheckpointState) writeAsIs(dir, latestFilename string) error {
	return s.write(dir, []string{latestFilename}, func(path string) string { return path })
}

func (s *CheckpointState) write(dir string, latestFilename []string, text func(path string) string) error {
	all := s.All
	if n := len(all); n == 0 || all[n-1] != s.Latest {
		all = append(append([]string(nil), all...), s.Latest)
	}
	if len(s.Times) > 0 && len(s.Times) != len(all) {
		return tf.Errorf(tf.InvalidArgument, "Checkpoint timestamps, if provided, must match checkpoint paths (got paths %v and timestamps %v)", all, s.Times)
	}
	name := stateFile(dir, latestFilename)
	latest := text(s.Latest)
	if latest == name {
		return tf.Errorf(tf.InvalidArgument, "Save path '%s' conflicts with path used for checkpoint state.  Please use a different save path.", s.Latest)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model_checkpoint_path: %s\n", quoteText(latest))
	for _, path := range all {
		if !utf8.ValidString(text(path)) {
			return tf.Errorf(tf.InvalidArgument, "the paths in a state file must be UTF-8, got %q", path)
		}
		fmt.Fprintf(&b, "all_model_checkpoint_paths: %s\n", quoteText(text(path)))
	}
	for _, t := range s.Times {
		fmt.Fprintf(&b, "all_model_checkpoint_timestamps: %v\n", secondsOf(t))
	}
	if !s.LastPreserved.IsZero() {
		fmt.Fprintf(&b, "last_preserved_timestamp: %v\n", secondsOf(s.LastPreserved))
	}
	return bundle.WriteFile(name, []byte(b.String()))
}

// belowDir returns path as the state file of dir has it.
func belowDir(dir, path string) string {
	if filepath.IsAbs(dir) || filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

// quoteText writes a string in the text format of protocol buffers, as
// TensorFlow does: bytes that are not ASCII as octal numbers.
func quoteText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\'':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
