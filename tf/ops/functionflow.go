package ops

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// Functional control flow: conditionals and loops whose branches, conditions
// and bodies are functions.

const branchAttrs = "Tin: list(type) >= 0; Tout: list(type) >= 0; "

func init() {
	flow := func(name string, stateful bool, d core.OpDef) {
		if d.Name, d.Stateful = name, stateful; d.Grad == nil {
			d.NoGrad = core.NoGradientDefined
		}
		core.Register(d)
	}
	cond := core.OpDef{Role: core.ChoosesOfTwo, In: "cond: Tcond; input: Tin", Out: "output: Tout", Shape: branchShape, Grad: tf.GradFunc(ifGrad), Kernels: core.AnyType(ifKernel),
		Attrs: "Tcond: type; " + branchAttrs + "then_branch: func; else_branch: func; output_shapes: list(shape) = []"}
	choice := core.OpDef{Role: core.ChoosesOfMany, In: "branch_index: int32; input: Tin", Out: "output: Tout", Shape: caseShape, Grad: tf.GradFunc(caseGrad), Kernels: core.AnyType(caseKernel),
		Attrs: branchAttrs + "branches: list(func) >= 1; output_shapes: list(shape) = []"}
	loop := core.OpDef{Role: core.Loops, In: "input: T", Out: "output: T", Shape: whileShape, Grad: tf.GradFunc(author.LoopGradients), Kernels: core.AnyType(whileKernel),
		Attrs: "T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; parallel_iterations: int = 10"}
	for prefix, stateful := range map[string]bool{"": true, "Stateless": false} {
		flow(prefix+"If", stateful, cond)
		flow(prefix+"Case", stateful, choice)
		flow(prefix+"While", stateful, loop)
	}
	// What TensorFlow leaves of a conditional or a loop that it does not lower.
	flow("_If", true, core.OpDef{Role: cond.Role, In: cond.In, Out: cond.Out, Shape: branchShape, Kernels: cond.Kernels,
		Attrs: "Tcond: type; Tin: list(type) >= 1; Tout: list(type) >= 1; then_branch: func; else_branch: func"})
	flow("_While", true, core.OpDef{Role: loop.Role, In: loop.In, Out: loop.Out, Shape: func(*core.Infer) error { return nil }, Kernels: loop.Kernels,
		Attrs: "T: list(type) >= 0; cond: func; body: func"})
	flow("For", false, core.OpDef{In: "start: int32; limit: int32; delta: int32; input: T", Out: "output: T",
		Attrs: "T: list(type) >= 0; body: func", Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(forKernel)})
	flow("ToBool", false, core.OpDef{In: "input: T", Out: "output: bool", Attrs: "T: type", Shape: core.ScalarShape, Kernels: core.AnyType(stateless(toBool))})
}

// declaredShapes gives the outputs the shapes that the node promises.
func declaredShapes(c *core.Infer) bool {
	shapes, _ := c.Attr("output_shapes").([]tf.Shape)
	if len(shapes) != c.NumOut() {
		return false
	}
	for i, s := range shapes {
		c.Set(i, s)
	}
	return true
}

func branchShape(c *core.Infer) error {
	declaredShapes(c)
	return nil
}

func caseShape(c *core.Infer) error {
	if s := c.In(0); len(s) != 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank 0 but is rank %d: input branch_index has shape %v", len(s), s)
	}
	declaredShapes(c)
	return nil
}

// whileShape: what goes around may change its shape, unless the node says that
// it does not.
func whileShape(c *core.Infer) error {
	if shapes, _ := c.Attr("output_shapes").([]tf.Shape); len(shapes) != 0 && len(shapes) != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "`output_shapes` must be the same length as num outputs (%d vs. %d)", len(shapes), c.NumOut())
	}
	declaredShapes(c)
	return nil
}

// truth reads a value as a condition: a scalar that is not zero, not false and
// not empty, or a tensor that has elements.
func truth(t *core.Tensor) (bool, error) {
	if t.Rank() != 0 {
		return t.Len() > 0, nil
	}
	switch t.DType() {
	case tf.Bool:
		return core.Data[bool](t)[0], nil
	case tf.String:
		return core.Data[string](t)[0] != "", nil
	case tf.Float32:
		return core.Data[float32](t)[0] != 0, nil
	case tf.Float64:
		return core.Data[float64](t)[0] != 0, nil
	case tf.Int64, tf.Int32, tf.Uint8, tf.Int16, tf.Int8:
		for _, b := range t.Buffer().Bytes() {
			if b != 0 {
				return true, nil
			}
		}
		return false, nil
	}
	return false, tf.Errorf(tf.InvalidArgument, "%s cannot be converted to a boolean", t.DType().CName())
}

func toBool(c *core.OpContext) error {
	v, err := truth(c.Input(0))
	if err != nil {
		return err
	}
	t, err := c.Alloc(0, tf.Bool, tf.Shape{})
	if err != nil {
		return err
	}
	core.Data[bool](t)[0] = v
	return nil
}

func ifKernel(n *core.Node) (core.Kernel, error) {
	yes, no := n.FuncAttr("then_branch"), n.FuncAttr("else_branch")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		v, err := truth(c.Input(0))
		if err != nil {
			done(err)
			return
		}
		f := no
		if v {
			f = yes
		}
		callBranch(c, f, done)
	}), nil
}

// callBranch calls f with all inputs but the first.
func callBranch(c *core.OpContext, f core.Func, done func(error)) {
	c.CallWith(f, c.Tensors(1, len(c.In)), func(out []*core.Tensor, err error) {
		if err == nil {
			err = c.SetAll(out)
		}
		done(err)
	})
}

// caseKernel calls the branch of the given number, the last one if there is
// none of that number.
func caseKernel(n *core.Node) (core.Kernel, error) {
	branches, _ := n.Attr("branches").([]core.Func)
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		index := c.Input(0)
		if index.Rank() != 0 {
			done(tf.Errorf(tf.InvalidArgument, "branch_index must be scalar"))
			return
		}
		i := int(core.Data[int32](index)[0])
		if i < 0 || i >= len(branches) {
			i = len(branches) - 1
		}
		callBranch(c, branches[i], done)
	}), nil
}

func whileKernel(n *core.Node) (core.Kernel, error) {
	cond, body := n.FuncAttr("cond"), n.FuncAttr("body")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		c.Apart(func() error { return runWhile(c, cond, body) }, done)
	}), nil
}

// runWhile calls body with what it returned, for as long as cond says so.
func runWhile(c *core.OpContext, cond, body core.Func) error {
	vars := &carried{c: c, v: c.Tensors(0, len(c.In)), who: "While"}
	for {
		again, err := vars.holds(cond)
		if err != nil {
			vars.drop()
			return err
		}
		if !again {
			return vars.results()
		}
		if err := vars.next(body, vars.v); err != nil {
			return err
		}
	}
}

// carried holds what goes around a loop.
type carried struct {
	c   *core.OpContext
	v   []*core.Tensor
	own bool   // v is not the node's inputs any more
	who string // whose body it is, in messages
}

// holds calls cond.
func (l *carried) holds(cond core.Func) (bool, error) {
	out, err := callAndWait(l.c, cond, l.v)
	if err != nil {
		return false, err
	}
	defer release(out)
	if len(out) != 1 {
		return false, tf.Errorf(tf.InvalidArgument, "Expected a single scalar return value from WhileOp cond, got %d tensors.", len(out))
	}
	return truth(out[0])
}

// next replaces the values by what body returns for args.
func (l *carried) next(body core.Func, args []*core.Tensor) error {
	out, err := callAndWait(l.c, body, args)
	if err == nil {
		err = l.same(out)
	}
	l.drop()
	if err != nil {
		release(out)
		return err
	}
	l.v, l.own = out, true
	return nil
}

// same compares what the body returned with what the loop carries.
func (l *carried) same(out []*core.Tensor) error {
	if len(out) != len(l.v) {
		return tf.Errorf(tf.InvalidArgument, "%s loop body returned %d arguments. Expected: %d", l.who, len(out), len(l.v))
	}
	for k, t := range out {
		if want := l.v[k].DType(); t.DType() != want {
			return tf.Errorf(tf.InvalidArgument, "Output %d of type %s does not match declared output type %s", k, t.DType().CName(), want.CName())
		}
	}
	return nil
}

// results makes the values the node's outputs.
func (l *carried) results() error {
	if !l.own {
		for i, t := range l.v {
			l.v[i] = t.Share()
		}
	}
	return l.c.SetAll(l.v)
}

func (l *carried) drop() {
	if l.own {
		release(l.v)
	}
	l.own = false
}

func release(ts []*core.Tensor) {
	for _, t := range ts {
		t.Release()
	}
}

// callAndWait is for kernels that run on a goroutine of their own.
func callAndWait(c *core.OpContext, f core.Func, in []*core.Tensor) (out []*core.Tensor, err error) {
	if ctx := c.StepContext(); ctx.Err() != nil {
		return nil, &tf.Error{Code: tf.Canceled, Msg: "Step was cancelled", Err: context.Cause(ctx), Derived: true}
	}
	ended := make(chan struct{})
	c.CallWith(f, in, func(ts []*core.Tensor, e error) {
		out, err = ts, e
		close(ended)
	})
	<-ended
	return out, err
}

// forKernel calls the body with each number from start to limit and what it
// returned before.
func forKernel(n *core.Node) (core.Kernel, error) {
	body := n.FuncAttr("body")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		var bounds [3]int
		for i, what := range []string{"start", "limit", "delta"} {
			if c.Input(i).Rank() != 0 {
				done(tf.Errorf(tf.InvalidArgument, "%s must be a scalar", what))
				return
			}
			bounds[i] = int(core.Data[int32](c.Input(i))[0])
		}
		if err := checkBounds(bounds); err != nil {
			done(err)
			return
		}
		c.Apart(func() error { return runFor(c, body, bounds) }, done)
	}), nil
}

func checkBounds(b [3]int) error {
	start, limit, delta := b[0], b[1], b[2]
	if delta > 0 && start > limit || delta < 0 && start < limit || delta == 0 && start != limit {
		return tf.Errorf(tf.InvalidArgument, "Invalid start/limit/delta: %d %d %d", start, limit, delta)
	}
	return nil
}

func runFor(c *core.OpContext, body core.Func, b [3]int) error {
	vars := &carried{c: c, v: c.Tensors(3, len(c.In)), who: "For"}
	for i := b[0]; b[2] > 0 && i < b[1] || b[2] < 0 && i > b[1]; i += b[2] {
		args := append([]*core.Tensor{core.Scalar(int32(i))}, vars.v...)
		if err := vars.next(body, args); err != nil {
			return err
		}
	}
	return vars.results()
}

// If returns what then, a traced function, returns for args if cond holds,
// else what otherwise returns. cond is a scalar, of type bool or one that
// holds if it is not zero or empty, or a tensor of such a type, which holds
// if it has elements. Both functions take args and return values of the same
// types; only one of them is called. If neither has effects, StatelessIf is
// added. Gradients flow through it. Functions that do not fit are refused
// with INVALID_ARGUMENT when the graph is built. The step refuses with that
// code a scalar cond that is not bool, string, float32, float64, uint8 or a
// signed integer. The shape of a result is known as far as both functions
// agree on it.
func If(cond tf.Output, args []tf.Output, then, otherwise *tf.Function, opts ...tf.Option) []tf.Output {
	return author.CallBranch("If", cond, args, []*tf.Function{then, otherwise}, opts...)
}

// StatelessIf is If for functions whose effects, if they have any, may be
// left out when the results are not read. Arguments, results and errors are
// those of If.
func StatelessIf(cond tf.Output, args []tf.Output, then, otherwise *tf.Function, opts ...tf.Option) []tf.Output {
	return author.CallBranch("StatelessIf", cond, args, []*tf.Function{then, otherwise}, opts...)
}

// Case returns what branches[index] returns for args, the last of them if
// there is none of that number. index is an int32 scalar. The rest is as with
// If. No branches, and branches that do not take args or differ in the types
// of their results, are refused with INVALID_ARGUMENT when the graph is
// built; an index that is no scalar is refused with that code then or in the
// step.
func Case(index tf.Output, args []tf.Output, branches []*tf.Function, opts ...tf.Option) []tf.Output {
	return author.CallBranch("Case", index, args, branches, opts...)
}

// StatelessCase is Case for functions whose effects, if they have any, may be
// left out when the results are not read. Arguments, results and errors are
// those of Case.
func StatelessCase(index tf.Output, args []tf.Output, branches []*tf.Function, opts ...tf.Option) []tf.Output {
	return author.CallBranch("StatelessCase", index, args, branches, opts...)
}

// WhileOpts are the optional attributes of While.
type WhileOpts struct {
	// ParallelIterations is how many iterations may be under way at once; 10
	// if zero.
	ParallelIterations int
}

// Apply sets the attributes.
func (o WhileOpts) Apply(s *tf.Spec) {
	if o.ParallelIterations != 0 {
		s.Set("parallel_iterations", o.ParallelIterations)
	}
}

// While returns the last values of vars: as long as cond of them returns
// true, body of them returns the next. Both are traced functions that take
// vars; what they capture is the same in all iterations. If neither has
// effects, StatelessWhile is added. Gradients flow through it. See tf.While
// for a loop that is part of the graph. Its options are [WhileOpts]. cond
// returns one scalar of type bool, body as many values as it takes, of the
// same types and of shapes that it takes. Other functions are refused with
// INVALID_ARGUMENT when the graph is built.
func While(vars []tf.Output, cond, body *tf.Function, opts ...tf.Option) []tf.Output {
	return author.CallLoop("While", vars, cond, body, opts...)
}

// StatelessWhile is While for functions whose effects, if they have any, may
// be left out when the results are not read. Its options are [WhileOpts].
// Arguments, results and errors are those of While.
func StatelessWhile(vars []tf.Output, cond, body *tf.Function, opts ...tf.Option) []tf.Output {
	return author.CallLoop("StatelessWhile", vars, cond, body, opts...)
}

// branchesGrad is a conditional like op, on what op takes and the gradients of
// its results, whose branches are the gradients of op's.
func branchesGrad(op *tf.Operation, dy []tf.Output, opts ...tf.Option) []tf.Gradient {
	opts = tf.Join(opts, tf.Attr("_lower_using_switch_merge", true))
	dx := author.CallGradient(op.OpName(), op.Inputs(), 1, op, dy, opts...)
	return append([]tf.Gradient{{}}, author.SplitGradients(op.Inputs()[1:], dx)...)
}

func ifGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	then, otherwise := op.FuncAttr("then_branch"), op.FuncAttr("else_branch")
	if grads := author.BranchGradients(op, []core.Func{then, otherwise}, dy); grads != nil {
		return grads
	}
	return branchesGrad(op, dy, tf.Attr("then_branch", core.GradientOf(then)), tf.Attr("else_branch", core.GradientOf(otherwise)))
}

func caseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	branches, _ := op.Attr("branches").([]core.Func)
	if grads := author.BranchGradients(op, branches, dy); grads != nil {
		return grads
	}
	grads := make([]core.Func, len(branches))
	for i, f := range branches {
		grads[i] = core.GradientOf(f)
	}
	return branchesGrad(op, dy, tf.Attr("branches", grads))
}
