package tf

// Recompute calls f. What gradients need of the operations that f adds is not kept
// until they are computed: all but what is read outside of f is computed again then, from
// what these operations read from outside, so that training takes less memory and more
// time (TensorFlow's tf.recompute_grad; "checkpoints" elsewhere). A network whose
// blocks are built in one call each keeps what the blocks pass on, and, at a time, the
// values within one block:
//
//	for _, block := range blocks {
//		g.Recompute(func() { x = block(x) })
//	}
//
// Gradients and what is fetched are the same bit for bit: operations with state, as
// random draws and reads of variables, do not run again, and their values are kept.
// Within the body of a function or a loop the call of f is all that happens, unless the
// gradients are computed there, too.
//
// Gradients are told by their names, which lie in a scope "gradients/", or "gradients_1/" and
// so on: of gradients that get another name by [GradientOptions] nothing is computed again. The
// operations are marked by attribute _recompute_hint, which TensorFlow's servers know
// as well: they heed it if RewriterConfig.memory_optimization is MANUAL.
func (g *Graph) Recompute(f func()) {
	g = g.current()
	g.scope.marks = max(g.scope.marks, int64(len(g.published.list()))) + 1 // not one of an imported graph
	during(g, &g.scope.recompute, g.scope.marks, f)
}

// recomputeHint is the attribute that marks operations.
const recomputeHint = "_recompute_hint"

// markRecomputed marks o, if it is added by a function that Recompute calls.
func (o *Operation) markRecomputed() {
	if mark := o.g.scope.recompute; mark != 0 && !o.g.IsEager() && !o.Def.Stateful && len(o.OutTypes) > 0 {
		o.Attrs[recomputeHint] = mark
	}
}
