package train

import (
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A CheckpointReader reads tensors from a checkpoint of either format, without
// a graph. It may be used by several goroutines.
type CheckpointReader struct {
	path  string
	v2    *bundle.Reader
	v1    *bundle.SliceReader
	infos map[string]VariableInfo

	once     sync.Once // of the names of objects
	names    *objectNames
	namesErr error
}

// A VariableInfo says what a checkpoint has of a variable.
type VariableInfo struct {
	Name  string
	DType tf.DType
	Shape tf.Shape
	// Slices are the parts in which it is stored, as in "0,2:-"; nil: it is whole.
	Slices []string
	// FullName is the name that the variable had, in a checkpoint of objects, whose
	// keys are paths from one object to the next.
	FullName string
}

// OpenCheckpoint opens the checkpoint of a name, as [LatestCheckpoint] returns
// it, or the latest one of a directory. Close ends its use.
func OpenCheckpoint(path string) (*CheckpointReader, error) {
	path, err := checkpointIn(path)
	if err != nil {
		return nil, err
	}
	if err := fileOf(path); err != nil {
		return nil, err
	}
	r := &CheckpointReader{path: path, infos: map[string]VariableInfo{}}
	if _, e := os.Stat(core.LocalPath(path) + ".index"); errors.Is(e, fs.ErrNotExist) {
		if r.v1, err = bundle.OpenSlices(path); err != nil {
			return nil, err
		}
		return r, r.listOld()
	}
	if r.v2, err = bundle.Open(path); err != nil {
		return nil, err
	}
	if err := r.list(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// checkpointIn returns the latest checkpoint if path is a directory.
func checkpointIn(path string) (string, error) {
	info, err := os.Stat(core.LocalPath(path))
	if err != nil || !info.IsDir() {
		return path, nil
	}
	latest, err := LatestCheckpoint(path)
	if err == nil && latest == "" {
		err = tf.Errorf(tf.NotFound, "Couldn't find 'checkpoint' file or checkpoints in given directory %s", path)
	}
	return latest, err
}

func (r *CheckpointReader) list() error {
	keys, err := r.v2.Keys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		e, err := r.v2.Entry(key)
		if err != nil {
			return err
		}
		r.infos[key] = infoOf(key, e)
	}
	return nil
}

func (r *CheckpointReader) listOld() error {
	for _, key := range r.v1.Keys() {
		r.infos[key] = infoOf(key, r.v1.Entry(key))
	}
	return nil
}

func infoOf(name string, e *bundle.Entry) VariableInfo {
	v := VariableInfo{Name: name, DType: e.DType, Shape: e.Shape}
	for _, s := range e.Slices {
		v.Slices = append(v.Slices, s.String())
	}
	return v
}

var errNoReader = tf.Errorf(tf.FailedPrecondition, "there is no checkpoint: see the error that train.OpenCheckpoint returned")

// Close ends the use of the files.
func (r *CheckpointReader) Close() {
	if r == nil {
		return
	}
	if r.v2 != nil {
		r.v2.Close()
	}
	if r.v1 != nil {
		r.v1.Close()
	}
}

// Variables returns what the checkpoint has, by name. No checkpoint has nothing.
func (r *CheckpointReader) Variables() []VariableInfo {
	if r == nil {
		return nil
	}
	out := make([]VariableInfo, 0, len(r.infos))
	o, err := r.objects()
	if err != nil {
		slog.Warn("the objects of a checkpoint cannot be read", "checkpoint", r.path, "error", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.infos)) {
		info := r.infos[name]
		if o != nil {
			info.FullName = o.byKey[name]
		}
		out = append(out, info)
	}
	return out
}

// Has reports whether the checkpoint has a tensor of that name: see Key.
func (r *CheckpointReader) Has(name string) bool {
	_, ok := r.Key(name)
	return ok
}

// Tensor returns the value of a variable, put together if it is stored in parts.
// name is what Key takes. It fails with NotFound if there is none.
func (r *CheckpointReader) Tensor(name string) (*tf.Tensor, error) {
	if r == nil {
		return nil, errNoReader
	}
	key, ok := r.Key(name)
	if !ok {
		return nil, tf.Errorf(tf.NotFound, "Key %s not found in checkpoint", name)
	}
	name, info := key, r.infos[key]
	var t *core.Tensor
	var err error
	if r.v1 != nil {
		t, err = r.v1.LookupSlice(name, bundle.Whole(len(info.Shape)))
	} else {
		t, err = r.v2.Lookup(name)
	}
	if err != nil {
		return nil, err
	}
	left, err := t.TryLeave()
	return (*tf.Tensor)(left), err
}

// ListVariables returns what a checkpoint has, by name: that of a name, or the
// latest one of a directory.
func ListVariables(path string) ([]VariableInfo, error) {
	r, err := OpenCheckpoint(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Variables(), nil
}

// LoadVariable returns the value that a variable has in a checkpoint: that of a
// name, or the latest one of a directory. See [CheckpointReader.Key] for the names of
// variables.
func LoadVariable(path, name string) (*tf.Tensor, error) {
	r, err := OpenCheckpoint(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Tensor(name)
}
