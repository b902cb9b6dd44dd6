package train

import (
	"maps"
	"reflect"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
)

// In an eager graph optimizers make their slots in the first step, so that a program which
// goes on with training restores before there are any. As with TensorFlow 2's
// tf.train.Checkpoint, the values wait for their variables.

// all reports whether the saver is one of all variables, those to come too.
func (s *Saver) all() bool {
	return s.o.Vars == nil && s.o.Named == nil && s.o.NamedParts == nil && s.o.Saveables == nil
}

// isNil reports whether r is no session: nil, or a pointer that is.
func isNil(r tf.StepRunner) bool {
	v := reflect.ValueOf(r)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// noSession refuses a session for an eager graph, which has none.
func noSession(r tf.StepRunner) error {
	if !isNil(r) {
		return tf.Errorf(tf.InvalidArgument, "variables of an eager graph have their values in the graph: a saver takes nil as its session, got a %T", r)
	}
	return nil
}

// present returns what a saver of an eager graph saves now.
func (s *Saver) present(r tf.StepRunner) ([]item, error) {
	if err := noSession(r); err != nil || !s.all() {
		return s.items, err
	}
	return itemsOf(s.g, &s.o)
}

// known returns what the saver restores: what it was made for, and those newer variables that
// the checkpoint has.
func (s *Saver) known(has func(name string) bool) []item {
	now, err := s.present(nil)
	if err != nil || !s.all() {
		return s.items
	}
	return slices.DeleteFunc(now, func(it item) bool { return !slices.ContainsFunc(s.items, it.same) && !has(it.name) })
}

func (it item) same(other item) bool { return it.v == other.v && it.other == other.other }

func (s *Saver) writeNow(r tf.StepRunner, file string) (string, error) {
	items, err := s.present(r)
	if err != nil {
		return "", err
	}
	b := builder{g: s.g, o: &s.o}
	return b.saveNow(items, file)
}

// readNow restores what there is, and keeps the rest.
func (s *Saver) readNow(path string) error {
	c, err := OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer c.Close()
	items := s.known(func(name string) bool { _, ok := c.infos[name]; return ok })
	b := builder{g: s.g, o: &s.o}
	if err := b.restoreNow(items, path); err != nil {
		return err
	}
	keys := map[string]string{}
	for name := range c.infos {
		keys[name] = name
	}
	s.keep(path, keys, items)
	return nil
}

// keep has the values of a checkpoint that none of items takes wait for variables of their names.
func (s *Saver) keep(path string, keys map[string]string, items []item) {
	if !s.all() {
		return
	}
	s.waiting = maps.Clone(keys)
	for _, it := range items {
		for _, spec := range it.specs() {
			delete(s.waiting, spec.Name)
		}
	}
	author.OnVariable(s.g, func(v *tf.Variable) error { return s.begins(path, v) })
}

// begins gives a new variable the value that waits for it.
func (s *Saver) begins(path string, v *tf.Variable) error {
	name := wholeName(v)
	key, ok := s.waiting[name]
	if !ok {
		return nil
	}
	if v.Slice() == nil { // other parts of it are to come
		delete(s.waiting, name)
	}
	var err error
	g := v.Graph()
	g.InitScope(func() { // not in the function that is being traced
		x := checkpoint.RestoreV2(ops.Scalar(g, path), ops.Const(g, []string{key}), ops.Const(g, []string{sliceSpec(v.Slice())}), []tf.DType{v.DType()})[0]
		if err = x.Err(); err == nil {
			err = assign(v, x, s.o.Reshape).Err()
		}
	})
	if err == nil {
		return nil
	}
	e := *tf.AsError(err)
	e.Msg = "variable " + v.Name() + " should begin with its value in checkpoint " + path + ", which was restored before it was made: " + e.Message()
	return misfit(&e, path, []item{{name: name, v: v}})
}

// Waiting returns the names of the values of the checkpoint restored last to an eager graph that
// no variable has got yet, sorted: once all variables are made, of those that the program does
// not have.
func (s *Saver) Waiting() []string { return slices.Sorted(maps.Keys(s.waiting)) }
