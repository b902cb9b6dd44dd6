package vars

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// UpdateOps is TensorFlow's collection of what has to run beside each step of
// training, such as the updates of the averages of batch normalization.
const UpdateOps = "update_ops"

// updateSources is the collection of what AddUpdate knows of its updates.
const updateSources = "__update_sources"

// updateSource says that training on what depends on one of from needs update.
type updateSource struct {
	update *tf.Operation
	from   []*tf.Operation
}

// AddUpdate adds an operation to the collection [UpdateOps]: it has to run in
// each step that trains on what depends on one of from. An eager graph has run
// it already and keeps nothing. Nil adds none, as with tf.After.
func AddUpdate(update *tf.Operation, from ...*tf.Operation) {
	if update == nil {
		return
	}
	if g := update.Graph(); !g.IsEager() && update.Err() == nil {
		g.AddToCollection(UpdateOps, update)
		g.AddToCollection(updateSources, updateSource{update, from})
	}
}

// Updates returns what has to run beside a step that computes ys, losses or
// gradients: of the collection [UpdateOps] the operations on whose sources (see
// AddUpdate) one of ys depends, and all those of which no source is known.
func Updates(ys ...tf.Output) []*tf.Operation {
	var out []*tf.Operation
	if len(ys) == 0 || ys[0].Graph() == nil {
		return nil
	}
	g := ys[0].Graph()
	all := g.Collection(UpdateOps)
	if len(all) == 0 {
		return nil
	}
	sources := map[*tf.Operation][]*tf.Operation{}
	for _, s := range g.Collection(updateSources) {
		s := s.(updateSource)
		sources[s.update] = s.from
	}
	needed := ancestors(ys)
	for _, v := range all {
		op := operationOf(v)
		from, known := sources[op]
		if op != nil && (!known || slices.ContainsFunc(from, func(f *tf.Operation) bool { return needed[f] })) {
			out = append(out, op)
		}
	}
	return out
}

// operationOf returns the operation that an element of a collection stands for:
// those of graphs from Python are outputs.
func operationOf(v any) *tf.Operation {
	switch v := v.(type) {
	case *tf.Operation:
		return v
	case tf.Output:
		return v.Operation()
	}
	return nil
}

// ancestors returns the operations that ys depend on.
func ancestors(ys []tf.Output) map[*tf.Operation]bool {
	seen := map[*tf.Operation]bool{}
	var todo []*tf.Operation
	visit := func(op *tf.Operation) {
		if op != nil && !seen[op] {
			seen[op] = true
			todo = append(todo, op)
		}
	}
	for _, y := range ys {
		visit(y.Operation())
	}
	for len(todo) > 0 {
		op := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, x := range op.Inputs() {
			visit(x.Operation())
		}
		for _, c := range op.ControlInputs() {
			visit(c)
		}
	}
	return seen
}
