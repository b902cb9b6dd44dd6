package rowblocks_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/rowblocks"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// bothWays runs a step without blocks of rows and with them, and returns what that gives.
func bothWays(t *testing.T, g *tf.Graph, feeds session.Feeds, fetches ...tf.Fetchable) (values [2][]*tf.Tensor, errs [2]error) {
	t.Helper()
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	for i, cfg := range []session.Config{{DisabledPasses: []string{"recomputation"}}, {SaveMemory: true}} {
		cfg.DisabledPasses = append(cfg.DisabledPasses, "fusion")
		values[i], errs[i] = opened(t, g, cfg).Run(t.Context(), feeds, fetches...)
	}
	return values, errs
}

// same reports an error unless a step gives the same with blocks of rows and without them.
func same(t *testing.T, g *tf.Graph, feeds session.Feeds, fetches ...tf.Fetchable) {
	t.Helper()
	values, errs := bothWays(t, g, feeds, fetches...)
	if errs[0] != nil || errs[1] != nil {
		t.Fatalf("%v\nin blocks: %v", errs[0], errs[1])
	}
	for i := range fetches {
		if err := near(values[1][i], values[0][i]); err != nil {
			t.Errorf("value %d: %v", i, err)
		}
	}
}

// sameError reports an error unless a step fails alike with blocks of rows and without them.
func sameError(t *testing.T, g *tf.Graph, feeds session.Feeds, fetches ...tf.Fetchable) {
	t.Helper()
	_, errs := bothWays(t, g, feeds, fetches...)
	if errs[0] == nil || errs[1] == nil || errs[0].Error() != errs[1].Error() {
		t.Errorf("in blocks: %v\nwant %v", errs[1], errs[0])
	}
}

// weights is a matrix of numbers that differ.
func weights(g *tf.Graph, rows, width int) tf.Output {
	return ops.Const(g, numbered(rows*width), rows, width)
}

func numbered(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i*i%37)/20 - 0.9
	}
	return v
}

// mixed is the same as a tensor.
func mixed(t *testing.T, rows, width int) *tf.Tensor {
	x, err := tf.FromSlice(numbered(rows*width), rows, width)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestReadByRowsAndWhole: a value of which some nodes read rows, and a product all of it, is not
// computed in blocks: each row is compared with those of the whole batch.
func TestReadByRowsAndWhole(t *testing.T) {
	const rows, width = 24, 5
	for _, block := range []int{1, 5, 8} {
		restore := rowblocks.SmallBlocks(block)
		g := tf.NewGraph()
		in := ops.Placeholder(g, tf.Float64, tf.Shape{-1, width})
		x := ops.EnsureShape(in, tf.Shape{-1, width})
		u := ops.MatMul(x, weights(g, width, width))
		v := ops.Tanh(ops.Mul(x, ops.Scalar(g, 0.5)))
		all := ops.Sum(ops.Sigmoid(ops.MatMul(u, v, ops.MatMulOpts{TransposeB: true})), []int{1})
		most := ops.Max(ops.MatMul(u, v, ops.MatMulOpts{TransposeB: true}), []int{1})
		same(t, g, session.Feeds{in: mixed(t, rows, width)}, all, ops.Sub(most, ops.Sum(ops.Mul(u, v), []int{1})))
		restore()
	}
}

// TestNoRowsAmongOthers: where one operand has no rows and others have some, a step fails as it
// does without blocks.
func TestNoRowsAmongOthers(t *testing.T) {
	defer rowblocks.SmallBlocks(2)()
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float64, tf.Shape{-1, 3}), ops.Placeholder(g, tf.Float64, tf.Shape{-1, 4})
	z := ops.Sum(ops.Mul(ops.Tanh(ops.MatMul(x, weights(g, 3, 4))), y), []int{1})
	for _, rows := range [][2]int{{0, 7}, {7, 0}, {0, 1}} {
		feeds := session.Feeds{x: mixed(t, rows[0], 3), y: mixed(t, rows[1], 4)}
		if slices.Contains(rows[:], 1) {
			same(t, g, feeds, z)
			continue
		}
		sameError(t, g, feeds, z)
	}
}

// TestGroup: a value that a region waits for by a group, and that otherwise is only needed after
// the region, comes before it.
func TestGroup(t *testing.T) {
	defer rowblocks.SmallBlocks(3)()
	g := tf.NewGraph()
	in := ops.Placeholder(g, tf.Float64, tf.Shape{20, 4})
	x := ops.EnsureShape(in, tf.Shape{20, 4})
	h := ops.MatMul(x, weights(g, 4, 4))
	n := ops.Exp(ops.Transpose(x, []int{1, 0}))
	var y tf.Output
	g.ControlDependencies([]*tf.Operation{tf.Group(g, "both", h.Operation(), n.Operation())}, func() {
		y = ops.Sum(ops.Mul(ops.Tanh(h), ops.Sigmoid(h)), []int{1})
	})
	same(t, g, session.Feeds{in: mixed(t, 20, 4)}, ops.MatMul(n, ops.Reshape(y, []int{20, 1})))
}

// TestSelectedRows: a vector that chooses rows is cut like these, and one of another length is
// refused, also if it is as long as a block.
func TestSelectedRows(t *testing.T) {
	defer rowblocks.SmallBlocks(4)()
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float64, tf.Shape{-1, 3}), ops.Placeholder(g, tf.Float64, nil)
	h := ops.MatMul(x, weights(g, 3, 5))
	chosen := ops.Greater(ops.EnsureShape(y, tf.Shape{-1}), ops.Scalar(g, 0.0))
	z := ops.Sum(ops.Square(ops.Select(chosen, ops.Tanh(h), ops.Neg(h))), []int{1})
	again := rowblocks.Again()
	same(t, g, session.Feeds{x: mixed(t, 12, 3), y: vector(t, 12)}, z)
	if n := rowblocks.Again() - again; n > 0 {
		t.Errorf("%d runs failed in blocks", n)
	}
	sameError(t, g, session.Feeds{x: mixed(t, 12, 3), y: vector(t, 4)}, z)
}

func vector(t *testing.T, rows int) *tf.Tensor {
	x, err := mixed(t, rows, 1).Reshape(tf.Shape{rows})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestAskedRows: a Reshape, or a BroadcastTo, to another number of rows than there are fails as
// it does without blocks.
func TestAskedRows(t *testing.T) {
	defer rowblocks.SmallBlocks(2)()
	for name, view := range map[string]func(x, n tf.Output) tf.Output{
		"Reshape": func(x, n tf.Output) tf.Output {
			return ops.Reshape(x, ops.Pack([]tf.Output{n, ops.Scalar(x.Graph(), int32(2)), ops.Scalar(x.Graph(), int32(3))}))
		},
		"BroadcastTo": func(x, n tf.Output) tf.Output {
			return ops.BroadcastTo(x, ops.Pack([]tf.Output{n, ops.Scalar(x.Graph(), int32(6))}))
		},
	} {
		g := tf.NewGraph()
		x, n := ops.Placeholder(g, tf.Float64, tf.Shape{-1, 3}), ops.Placeholder(g, tf.Int32, tf.Shape{})
		z := ops.Sum(ops.Exp(view(ops.Tanh(ops.MatMul(x, weights(g, 3, 6))), n)), []int{1})
		feeds := session.Feeds{x: mixed(t, 8, 3), n: tf.Scalar(int32(8))}
		same(t, g, feeds, z)
		for _, rows := range []int32{7, 16, -1} {
			if feeds[n] = tf.Scalar(rows); name == "Reshape" && rows < 0 {
				same(t, g, feeds, z)
				continue
			}
			sameError(t, g, feeds, z)
		}
	}
}

// cancelled is called by each run of op TestCancelled, with the number of rows.
var cancelled atomic.Pointer[func(c *core.OpContext, rows int)]

func init() {
	core.Register(core.OpDef{
		Name: "TestCancelled", Traits: core.Rowwise, In: "x: double", Out: "y: double", Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error {
				(*cancelled.Load())(c, c.Input(0).Dim(0))
				y, err := c.Alloc(0, tf.Float64, c.Input(0).Shape())
				if err != nil {
					return err
				}
				return c.Input(0).CopyTo(y)
			}), nil
		}),
	})
}

// TestCancelled: a step that is cancelled ends after the block that it is at.
func TestCancelled(t *testing.T) {
	defer rowblocks.SmallBlocks(2)()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float64, tf.Shape{-1, 3})
	z := ops.Sum(tf.Apply(nil, "TestCancelled", []tf.Output{ops.MatMul(x, weights(g, 3, 4))}).Output(0), []int{1})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var runs []int
	note := func(c *core.OpContext, rows int) {
		cancel()
		<-c.StepContext().Done()
		runs = append(runs, rows)
	}
	cancelled.Store(&note)
	_, err := opened(t, g, session.Config{SaveMemory: true}).Run(ctx, session.Feeds{x: mixed(t, 9, 3)}, z)
	if tf.CodeOf(err) != tf.Canceled || !slices.Equal(runs, []int{2}) {
		t.Errorf("%v after blocks of %v rows", err, runs)
	}
}

// TestOthersOfAGradient: a gradient begins with ones of what it is of, which a region needs before that
// is computed. Variables that are updated by these ones, and by other gradients, keep their values if that fails.
func TestOthersOfAGradient(t *testing.T) {
	defer rowblocks.SmallBlocks(4)()
	const rows = 24
	g := tf.NewGraph()
	in, labels := ops.Placeholder(g, tf.Float64, tf.Shape{rows, 4}), ops.Placeholder(g, tf.Int32, tf.Shape{rows})
	zeros := ops.Const(g, make([]float64, rows))
	v, u := tf.NewVariable(zeros, tf.VariableOptions{}), tf.NewVariable(zeros, tf.VariableOptions{})
	losses := ops.SparseSoftmaxCrossEntropyWithLogits(labels, ops.MatMul(ops.EnsureShape(in, tf.Shape{rows, 4}), weights(g, 4, 3)))
	y := ops.AddV2(losses, ops.Exp(v.Value()))
	d, err := tf.Gradients(y, in, v.Value())
	if err != nil {
		t.Fatal(err)
	}
	updates := tf.Group(g, "updates", v.AssignSub(d[1]), u.AssignAdd(ops.OnesLike(y)))
	bad := append(make([]int32, rows-1), 3)
	feeds := session.Feeds{in: mixed(t, rows, 4)}
	if feeds[labels], err = tf.FromSlice(bad); err != nil {
		t.Fatal(err)
	}
	read := ops.Pack([]tf.Output{v.Value(), u.Value()})
	for _, cfg := range []session.Config{{DisabledPasses: []string{"recomputation"}}, {SaveMemory: true}} {
		s := opened(t, g, cfg)
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), feeds, d[0], updates); err == nil {
			t.Fatal("no error for a label that there is not")
		}
		got, err := session.Fetch[float64](t.Context(), s, nil, read)
		if err != nil || slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
			t.Errorf("a step that fails has updated variables to %v, %v", got, err)
		}
	}
}

// TestKeptBytes: the log says what a region keeps from memory less what it has there as a whole:
// the products, but not the sums.
func TestKeptBytes(t *testing.T) {
	defer rowblocks.SmallBlocks(3)()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float64, tf.Shape{-1, 4})
	y := ops.Sum(ops.MatMul(ops.EnsureShape(x, tf.Shape{20, 4}), weights(g, 4, 4)), []int{1})
	var log strings.Builder
	s := opened(t, g, session.Config{SaveMemory: true, LogFusion: true, Log: slog.NewTextHandler(&log, nil)})
	if _, err := s.Run(t.Context(), session.Feeds{x: mixed(t, 20, 4)}, y); err != nil {
		t.Fatal(err)
	}
	if want := "keep 480 bytes"; !strings.Contains(log.String(), want) { // 20 · (4 - 1) numbers
		t.Errorf("no %q in %s", want, log.String())
	}
}
