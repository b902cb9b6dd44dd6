package train

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A saver restores a checkpoint of TensorFlow 2 as Python's does: by the full names
// that the variables had when it was written. Only when a name is not a key of the
// checkpoint is the graph of objects looked at.

// objectNodes are what restores an object-based checkpoint.
type objectNodes struct {
	filename tf.Output
	loads    []keyedLoad
	restore  *tf.Operation
}

// restoreObjects restores the checkpoint path by the names that its objects had. It
// returns failed, the error of restoring it by keys, if it has no objects.
func (s *Saver) restoreObjects(ctx context.Context, r tf.StepRunner, path string, failed error) error {
	c, err := OpenCheckpoint(path)
	if err != nil {
		return failed
	}
	defer c.Close()
	o, err := c.objects()
	if err != nil || o == nil {
		return failed
	}
	if s.g.Finalized() {
		author.Reopen(s.g)
		defer s.g.Finalize()
	}
	items := s.items
	if items == nil { // it came with a MetaGraph
		items = listed(s.g, &SaverOptions{})
	}
	if s.g.IsEager() {
		items = s.known(c.Has)
	}
	keys, err := c.keysOf(items)
	if err != nil {
		return err
	}
	slog.Warn("Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile.", "checkpoint", path)
	if s.g.IsEager() {
		b := builder{g: s.g, o: &s.o, keys: func(name string) string { return keys[name] }}
		if err := b.restoreNow(items, path); err != nil {
			return s.unfit(err, path, items)
		}
		s.keep(path, o.byName, items)
		return nil
	}
	return s.unfit(s.restoreFed(ctx, r, path, items, keys), path, items)
}

// unfit returns err as Restore does, with the variables that do not fit.
func (s *Saver) unfit(err error, path string, items []item) error {
	if tf.CodeOf(err) != tf.InvalidArgument {
		return err
	}
	return misfit(mismatched(err), path, items)
}

// restoreFed runs what restores the variables under the keys that it is fed. Its
// operations are added the first time.
func (s *Saver) restoreFed(ctx context.Context, r tf.StepRunner, path string, items []item, keys map[string]string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.end()
	if s.objects.restore == nil {
		n, err := s.addObjectRestore(items)
		if err != nil {
			return err
		}
		s.objects = n
	}
	feeds := map[tf.Output]tf.Value{s.objects.filename: tf.Scalar(path)}
	for _, l := range s.objects.loads {
		mapped := make([]string, len(l.names))
		for i, name := range l.names {
			mapped[i] = keys[name]
		}
		t, err := tf.FromSlice(mapped)
		if err != nil {
			return err
		}
		feeds[l.keys] = t
	}
	_, err := r.RunStep(ctx, feeds, s.objects.restore)
	return err
}

func (s *Saver) addObjectRestore(items []item) (n objectNodes, err error) {
	b := builder{g: s.g, o: &s.o, fedKeys: true}
	s.g.Scope("", func() {
		s.g.Scope(s.scope()+"_objects", func() {
			n.filename = ops.PlaceholderWithDefault(ops.Scalar(s.g, "model"), tf.Shape{}, tf.Name("filename"))
			n.restore = b.restoreAll(n.filename, items)
		})
	})
	n.loads = b.loads
	return n, n.restore.Err()
}

// keysOf returns the keys under which the checkpoint has the tensors of items, or says which it
// lacks, in TensorFlow's words.
func (r *CheckpointReader) keysOf(items []item) (map[string]string, error) {
	var missing []string
	keys, extra := map[string]string{}, maps.Clone(r.names.byName)
	for _, it := range items {
		for _, s := range it.specs() {
			key, ok := r.Key(s.Name)
			if !ok {
				missing = append(missing, s.Name)
				continue
			}
			keys[s.Name] = key
			delete(extra, r.names.byKey[key])
		}
	}
	if len(missing) == 0 {
		return keys, nil
	}
	slices.Sort(missing)
	return nil, &tf.Error{Code: tf.NotFound, Msg: fmt.Sprintf("\n\nExisting variables not in the checkpoint: %s\n\n"+
		"Variables names when this checkpoint was written which don't exist now: %s\n\n"+
		"(%d variable name(s) did match)\n\n"+
		"Could not find some variables in the checkpoint (see names above). Saver was attempting to load an object-based checkpoint "+
		"(saved using tf.train.Checkpoint or tf.keras.Model.save_weights) using variable names. If the checkpoint was written with "+
		"eager execution enabled, it's possible that variable names have changed (for example missing a '_1' suffix). It's also "+
		"possible that there are new variables which did not exist when the checkpoint was written. SaverOptions.Named restores "+
		"variables under other names.", strings.Join(slices.Compact(missing), ", "), strings.Join(slices.Sorted(maps.Keys(extra)), ", "), len(keys))}
}
