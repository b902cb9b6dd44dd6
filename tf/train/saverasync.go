package train

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/stage"
)

// An asynchronous save has two steps. The first one leaves the values of all
// variables in staging areas, which takes references to them: an update of a
// variable whose value is referred to elsewhere writes to new memory. The second one
// takes the values out and writes them, while other steps go on. Both are made of
// TensorFlow's operations, so that they run on the tasks of any cluster, each of
// which writes its own shard.

// A PendingSave is a save that goes on beside the program.
type PendingSave struct {
	done   chan struct{} // closed when path and err are final
	cancel context.CancelFunc
	path   string
	err    error
}

// Done is closed when the save has ended.
func (p *PendingSave) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the save, or of ctx, and returns what [Saver.Save]
// returns.
func (p *PendingSave) Wait(ctx context.Context) (string, error) {
	if err := core.NeedContext(ctx, "Wait"); err != nil {
		return "", err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // which says more
		default:
			return "", tf.AsError(context.Cause(ctx))
		}
	}
	return p.path, p.err
}

// Cancel gives the save up. The checkpoint before it stays as it is. Wait says
// when the save has ended.
func (p *PendingSave) Cancel() { p.cancel() }

// SaveStepAsync is [Saver.SaveAsync] under the name path-step.
func (s *Saver) SaveStepAsync(ctx context.Context, r tf.StepRunner, path string, step int64, o ...SaveOptions) (*PendingSave, error) {
	if err := cmp.Or(s.ready(ctx, "a save"), checkStep(step)); err != nil {
		return nil, err
	}
	return s.saveAsync(ctx, r, path, s.stepFile(path, step), o)
}

// SaveAsync is [Saver.Save] that returns as soon as it has the values of all
// variables, and writes them in a goroutine of its own. What is saved is the state in
// between two steps, as long as no other step runs during the call. Until the values are
// written, each variable that changes takes its memory twice.
//
// The state file names the checkpoint once it is complete. Saves of a saver never
// overlap: SaveAsync waits for the one before. ctx bounds that wait and the reading of
// the values; [PendingSave.Cancel] ends the writing. The session must not be closed
// before. The first call adds operations to the graph.
func (s *Saver) SaveAsync(ctx context.Context, r tf.StepRunner, path string, o ...SaveOptions) (*PendingSave, error) {
	if err := s.ready(ctx, "a save"); err != nil {
		return nil, err
	}
	if err := s.checkPath(path, o); err != nil {
		return nil, err
	}
	return s.saveAsync(ctx, r, path, path, o)
}

func (s *Saver) saveAsync(ctx context.Context, r tf.StepRunner, path, file string, o []SaveOptions) (*PendingSave, error) {
	opt := saveOptions(o)
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	write, err := s.snapshot(ctx, r, file)
	if err != nil {
		s.end()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &PendingSave{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.done)
		defer cancel()
		defer s.end()
		defer func() {
			if v := recover(); v != nil {
				p.err = tf.Errorf(tf.Internal, "a save panicked: %v", v)
			}
		}()
		p.path, p.err = s.finish(path, file, opt, func() (string, error) { return write(ctx) })
	}()
	return p, nil
}

// snapshot takes the values of all variables. It returns what writes them.
func (s *Saver) snapshot(ctx context.Context, r tf.StepRunner, file string) (func(context.Context) (string, error), error) {
	switch {
	case s.empty():
		return func(context.Context) (string, error) { return "", nil }, nil
	case s.g.IsEager():
		return s.snapshotNow(r, file)
	case isNil(r):
		return nil, tf.Errorf(tf.InvalidArgument, "variables of a graph are saved from a session, got none")
	}
	if err := s.checkGraph(r); err != nil {
		return nil, err
	}
	if err := s.prepareAsync(); err != nil {
		return nil, err
	}
	if _, err := r.RunStep(ctx, nil, s.async.keep); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (string, error) {
		out, err := r.RunStep(ctx, map[tf.Output]tf.Value{s.async.filename: tf.Scalar(file)}, s.async.save)
		if err != nil {
			return "", err
		}
		return tf.Data[string](out[0])[0], nil
	}, nil
}

// asyncNodes are what asynchronous saves run.
type asyncNodes struct {
	keep           *tf.Operation // takes the values
	filename, save tf.Output
}

// prepareAsync adds the operations of asynchronous saves, once.
func (s *Saver) prepareAsync() error {
	if s.empty() || s.g.IsEager() || s.async.keep != nil {
		return nil
	}
	items := s.items
	if items == nil {
		var err error
		if items, err = s.savedItems(); err != nil {
			return err
		}
	}
	if s.g.Finalized() {
		author.Reopen(s.g)
		defer s.g.Finalize()
	}
	var n asyncNodes
	b := builder{g: s.g, o: &s.o, staged: s.scope() + "_async"}
	s.g.Scope("", func() {
		s.g.Scope(b.staged, func() {
			file := ops.Scalar(s.g, "model", tf.Name("filename/input"))
			n.filename = ops.PlaceholderWithDefault(file, tf.Shape{}, tf.Name("filename"))
			n.save = b.saveAll(n.filename, items)
			n.keep = tf.Group(s.g, "keep", b.keeps...)
		})
	})
	if err := n.save.Err(); err != nil {
		return err
	}
	if err := n.keep.Err(); err != nil {
		return err
	}
	s.async = n
	return nil
}

// through adds what leaves tensors in a staging area, and returns them as they come
// out. What an earlier session may have left there is dropped first.
func (b *builder) through(tensors []tf.Output) []tf.Output {
	types := make([]tf.DType, len(tensors))
	values := make([]tf.Output, len(tensors))
	for i, x := range tensors {
		types[i], values[i] = x.DType().Base(), x
		if x.DType().IsRef() { // its updates write to the memory that readers see
			values[i] = ops.DeepCopy(x)
		}
	}
	area := stage.Opts{SharedName: fmt.Sprint(b.staged, "/", len(b.keeps))}
	clear := stage.StageClear(b.g, types, area)
	b.keeps = append(b.keeps, stage.Stage(values, area, tf.After(clear)))
	return stage.Unstage(b.g, types, area)
}

// savedItems returns what a saver that came with a graph saves: the inputs of its
// operations.
func (s *Saver) savedItems() ([]item, error) {
	n, err := s.nodes()
	if err != nil {
		return nil, err
	}
	var items []item
	for _, op := range upstream(n.save.Operation()) {
		var one *Saveable
		switch op.OpName() {
		case "SaveV2", "SaveSlices":
			one, err = saveableOf(op, 3)
		case "Save":
			one, err = saveableOf(op, 2)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		items = append(items, item{name: one.Name, other: one})
	}
	if len(items) == 0 {
		return nil, tf.Errorf(tf.FailedPrecondition, "an asynchronous save needs operations that save in the graph, %s has none before it", n.save.Name())
	}
	return items, nil
}

// upstream returns the operations that op depends on, op too, in the order in which
// a search finds them.
func upstream(op *tf.Operation) []*tf.Operation {
	all, seen := []*tf.Operation{op}, map[*tf.Operation]bool{op: true}
	add := func(op *tf.Operation) {
		if !seen[op] {
			seen[op] = true
			all = append(all, op)
		}
	}
	for i := 0; i < len(all); i++ {
		for _, x := range all[i].Inputs() {
			add(x.Operation())
		}
		for _, c := range all[i].ControlInputs() {
			add(c)
		}
	}
	return all
}

// saveableOf returns what one operation saves, whose tensors come after fixed
// inputs: the file, the names and, if there are three, the slices.
func saveableOf(op *tf.Operation, fixed int) (*Saveable, error) {
	s := &Saveable{Name: op.Name, Device: op.Device}
	texts := make([][]string, 2)
	for i := 1; i < fixed; i++ {
		from := op.Input(i).Operation()
		if from.Role() != core.Constant || from.Type("dtype") != tf.String || from.TensorAttr("value").Len() != len(op.Inputs())-fixed {
			return nil, tf.Errorf(tf.FailedPrecondition, "an asynchronous save needs names and slices that are constants, those of %s are not", op.Name)
		}
		texts[i-1] = core.Data[string](from.TensorAttr("value"))
	}
	for i, name := range texts[0] {
		x := op.Input(fixed + i)
		spec := SaveSpec{Name: name, DType: x.DType().Base(), Tensor: func() tf.Output { return x }}
		if fixed == 3 {
			spec.Slice = texts[1][i]
		}
		s.Specs = append(s.Specs, spec)
	}
	return s, nil
}

// snapshotNow is snapshot for an eager graph, which belongs to the goroutine of the
// program: the values are copied out of it.
func (s *Saver) snapshotNow(r tf.StepRunner, file string) (func(context.Context) (string, error), error) {
	items, err := s.present(r)
	if err != nil {
		return nil, err
	}
	names, slices, tensors := specs(items)
	values := make([]*core.Tensor, len(tensors))
	for i, x := range tensors {
		v, err := x.Value()
		if err != nil {
			return nil, err
		}
		values[i] = (*core.Tensor)(v)
	}
	return func(context.Context) (string, error) {
		if s.o.V1 {
			w := bundle.CreateSlices(file)
			if err := writeAll(names, slices, values, w.Add); err != nil {
				return "", err
			}
			return file, w.Finish()
		}
		w, err := bundle.Create(file)
		if err != nil {
			return "", err
		}
		defer w.Abort()
		if err := writeAll(names, slices, values, w.AddSlice); err != nil {
			return "", err
		}
		return file, w.Finish()
	}, nil
}

// writeAll adds tensors, or the slices that they are, to a checkpoint.
func writeAll(names, slices []string, values []*core.Tensor, add func(string, core.Shape, bundle.Slice, *core.Tensor) error) error {
	for i, t := range values {
		full, part := t.Shape(), bundle.Whole(t.Rank())
		if slices[i] != "" {
			var err error
			if full, part, _, err = bundle.ParseSlice(slices[i]); err != nil {
				return err
			}
		}
		if err := add(names[i], full, part, t); err != nil {
			return err
		}
	}
	return nil
}
