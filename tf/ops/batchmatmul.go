package ops

import (
	"slices"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const adjoint = "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false"
	core.Register(core.OpDef{
		Name: "BatchMatMul", In: "x: T; y: T", Out: "output: T",
		Attrs: "T: {" + floatTypes + ", int32, int64, " + complexTypes + "}; " + adjoint,
		Shape: batchMatMulShape, Expensive: true, Grad: tf.GradFunc(batchMatMulGrad), Kernels: core.ByType("T", without(batchMatMulKernels(false), tf.Int16)),
	})
	core.Register(core.OpDef{
		Name: "BatchMatMulV2", In: "x: T; y: T", Out: "output: T",
		Attrs: "T: {" + floatTypes + ", int16, int32, int64, " + unsignedTypes + ", " + complexTypes + "}; " + adjoint,
		Shape: batchMatMulShape, Expensive: true, Grad: tf.GradFunc(batchMatMulV2Grad), Kernels: core.ByType("T", batchMatMulKernels(true)),
	})
}

// BatchMatMulOpts are the optional attributes of BatchMatMul and BatchMatMulV2.
type BatchMatMulOpts struct {
	AdjX, AdjY bool // take the conjugate transpose of the matrices
	// GradX and GradY mark the products that are gradients.
	GradX, GradY bool
}

// Apply sets the attributes.
func (o BatchMatMulOpts) Apply(s *tf.Spec) {
	s.Set("adj_x", o.AdjX)
	s.Set("adj_y", o.AdjY)
	s.Set("grad_x", o.GradX)
	s.Set("grad_y", o.GradY)
}

// BatchMatMul returns the products of matrices that lie in the last two
// dimensions of x and y; their other dimensions broadcast. Shapes, types and
// errors are those of BatchMatMulV2. Attributes are BatchMatMulOpts.
func BatchMatMul(x, y tf.Output, opts ...tf.Option) tf.Output {
	return BatchMatMulV2(x, y, opts...)
}

// BatchMatMulV2 returns the products of matrices that lie in the last two
// dimensions of x and y, whose other dimensions are broadcast. Both hold
// numbers of one type: floating-point (float16, bfloat16, float32, float64),
// int16, int32, int64 or complex. The result has the broadcast dimensions, then
// the rows of x and the columns of y. Fewer than two dimensions, dimensions
// that do not broadcast, and matrices whose inner sizes differ are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Its options are [BatchMatMulOpts].
func BatchMatMulV2(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("BatchMatMulV2", opts, x, y)
}

func batchMatMulShape(c *core.Infer) error {
	x, y := c.In(0), c.In(1)
	if x == nil || y == nil {
		return nil
	}
	if len(x) < 2 || len(y) < 2 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 2: shapes are %v and %v", x, y)
	}
	batch, ok := tf.BroadcastShapes(x[:len(x)-2], y[:len(y)-2])
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "batch dimensions must fit together: shapes are %v and %v", x, y)
	}
	m, kx := matrixSizes(x, c.Bool("adj_x"))
	ky, n := matrixSizes(y, c.Bool("adj_y"))
	if kx >= 0 && ky >= 0 && kx != ky {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal: inner dimensions %d and %d differ", kx, ky)
	}
	c.Set(0, append(batch.Clone(), m, n))
	return nil
}

// batchProduct is what a node does with stacks of matrices.
type batchProduct struct {
	adjX, adjY, broadcast bool
}

func batchMatMulKernels(broadcast bool) byType {
	return byType{
		tf.Float32: batchKernel(broadcast, plain[float32]), tf.Float64: batchKernel(broadcast, plain[float64]),
		tf.Int32: batchKernel(broadcast, plain[int32]), tf.Int64: batchKernel(broadcast, plain[int64]), tf.Int16: batchKernel(broadcast, plain[int16]),
		tf.Complex64: batchKernel(broadcast, adjoint[complex64]), tf.Complex128: batchKernel(broadcast, adjoint[complex128]),
		tf.Float16: halfBatchKernel[tf.Half](broadcast), tf.BFloat16: halfBatchKernel[tf.BF16](broadcast),
	}
}

// plain returns the elements of a real operand, whose adjoint is its transpose.
func plain[T tf.Elem](t *core.Tensor, _ bool) []T { return core.Data[T](t) }

// adjoint returns the elements of a complex operand, conjugated if adj is set.
func adjoint[T interface {
	numeric.Complex
	tf.Elem
}](t *core.Tensor, adj bool) []T {
	if !adj {
		return core.Data[T](t)
	}
	out := core.Make[T](t.Len())
	elementwise.MapComplex128(out, core.Data[T](t), conjugate)
	return out
}

func batchKernel[T interface {
	numeric.Number
	tf.Elem
}](broadcast bool, operand func(t *core.Tensor, adj bool) []T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		p := batchProduct{n.Bool("adj_x"), n.Bool("adj_y"), broadcast}
		into := func(c *core.OpContext, z *core.Tensor, done func(lo, hi int)) {
			if g, b, err := p.planOf(c); err == nil {
				multiplyAll(c, g, b, core.Data[T](z), operand(c.Input(0), p.adjX), operand(c.Input(1), p.adjY), done)
			}
		}
		shape := func(c *core.OpContext) (core.Shape, error) {
			g, b, err := p.planOf(c)
			if err != nil {
				return nil, err
			}
			return append(tf.Shape(b.Shape).Clone(), g.M, g.N), nil
		}
		return &core.PartsKernel{Shape: shape, Into: into, Rows: true, Compute: func(c *core.OpContext) error {
			s, err := shape(c)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, c.Input(0).DType(), s)
			if err != nil {
				return err
			}
			into(c, out, nil)
			return nil
		}}, nil
	}
}

func halfBatchKernel[H interface {
	numeric.HalfFloat
	tf.Elem
}](broadcast bool) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		p := batchProduct{n.Bool("adj_x"), n.Bool("adj_y"), broadcast}
		return core.Compute(func(c *core.OpContext) error {
			g, b, err := p.planOf(c)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, c.Input(0).DType(), append(tf.Shape(b.Shape).Clone(), g.M, g.N))
			if err != nil {
				return err
			}
			z := core.Borrow[float32](c, out.Len())
			multiplyAll(c, g, b, z, wide[H](c, c.Input(0)), wide[H](c, c.Input(1)), nil)
			elementwise.Narrow(core.Data[H](out), z)
			return nil
		}), nil
	}
}

// planOf is plan for the inputs of a node.
func (p *batchProduct) planOf(c *core.OpContext) (gemm.Gemm, *elementwise.Broadcast, error) {
	return p.plan(c.Input(0).Shape(), c.Input(1).Shape())
}

// plan checks the operands and says which matrices are multiplied.
func (p *batchProduct) plan(x, y tf.Shape) (g gemm.Gemm, b *elementwise.Broadcast, err error) {
	for i, s := range []tf.Shape{x, y} {
		if len(s) < 2 {
			return g, nil, tf.Errorf(tf.InvalidArgument, "In[%d] ndims must be >= 2: %d", i, len(s))
		}
	}
	bx, by := x[:len(x)-2], y[:len(y)-2]
	if !p.broadcast {
		if err := equalBatches(x, y); err != nil {
			return g, nil, err
		}
	}
	b, ok := elementwise.NewBroadcast(bx, by)
	if !ok {
		return g, nil, tf.Errorf(tf.InvalidArgument, "In[0] and In[1] must have compatible batch dimensions: %s vs. %s", x.String(), y.String())
	}
	m, kx := matrixSizes(x, p.adjX)
	ky, n := matrixSizes(y, p.adjY)
	if kx != ky {
		return g, nil, tf.Errorf(tf.InvalidArgument, "Matrix size-incompatible: In[0]: %s, In[1]: %s", x.String(), y.String())
	}
	return gemm.NewGemm(m, n, kx, p.adjX, p.adjY), b, nil
}

func equalBatches(x, y tf.Shape) error {
	if len(x) != len(y) {
		return tf.Errorf(tf.InvalidArgument, "In[0] and In[1] has different ndims: %s vs. %s", x.String(), y.String())
	}
	for i := range len(x) - 2 {
		if x[i] != y[i] {
			return tf.Errorf(tf.InvalidArgument, "In[0].dim(%d) and In[1].dim(%d) must be the same: %s vs %s", i, i, x.String(), y.String())
		}
	}
	return nil
}

// stretchBytes is how many bytes of products are told to be done at once: they are in the
// second-level cache then, and what follows is not called for each of many small ones.
const stretchBytes = 64 << 10

// multiplyAll multiplies every pair of matrices. A single pair is shared
// between threads, more of them are distributed. It calls done, unless that is nil, for
// stretches of whole rows of z when these are computed.
func multiplyAll[T numeric.Number](c *core.OpContext, g gemm.Gemm, b *elementwise.Broadcast, z, x, y []T, done func(lo, hi int)) {
	sx, sy, sz := g.M*g.K, g.K*g.N, g.M*g.N
	if b.Len == 1 {
		gemm.MatMul(c.ParallelFor, g, z, x, y, gemm.Epilogue[T]{})
		if done != nil {
			c.ParallelFor(g.M, max(1, elementGrain/max(1, g.N)), func(lo, hi int) { done(lo*g.N, hi*g.N) })
		}
		return
	}
	inner, stretch := b.Inner(), max(1, stretchBytes/max(1, sz*int(unsafe.Sizeof(*new(T)))))
	c.ParallelFor(b.Len, max(1, elementGrain/max(1, sz*g.K/16)), func(lo, hi int) {
		from := lo
		b.Runs(lo, hi, func(at int, off []int, n int) {
			for i := at; i < at+n; i++ {
				kx, ky := (off[0]+(i-at)*inner[0])*sx, (off[1]+(i-at)*inner[1])*sy
				gemm.MatMul(kernel.Serial, g, z[i*sz:(i+1)*sz], x[kx:kx+sx], y[ky:ky+sy], gemm.Epilogue[T]{})
				if done != nil && (i+1 == hi || i+1-from >= stretch) {
					done(from*sz, (i+1)*sz)
					from = i + 1
				}
			}
		})
	})
}

// batchGrads returns the gradients of both operands before broadcasting is
// undone.
func batchGrads(op *tf.Operation, dz tf.Output, mul func(x, y tf.Output, o BatchMatMulOpts) tf.Output) (dx, dy tf.Output) {
	x, y := op.Input(0), op.Input(1)
	ax, ay := op.Bool("adj_x"), op.Bool("adj_y")
	if ax {
		dx = mul(y, dz, BatchMatMulOpts{AdjX: ay, AdjY: true, GradX: true})
	} else {
		dx = mul(dz, y, BatchMatMulOpts{AdjY: !ay, GradX: true})
	}
	if ay {
		dy = mul(dz, x, BatchMatMulOpts{AdjX: true, AdjY: ax, GradY: true})
	} else {
		dy = mul(x, dz, BatchMatMulOpts{AdjX: !ax, GradY: true})
	}
	return dx, dy
}

func batchMatMulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(batchGrads(op, dy[0], func(x, y tf.Output, o BatchMatMulOpts) tf.Output {
		return BatchMatMulV2(x, y, BatchMatMulOpts{AdjX: o.AdjX, AdjY: o.AdjY})
	}))
}

func batchMatMulV2Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx, db := batchGrads(op, dy[0], func(x, y tf.Output, o BatchMatMulOpts) tf.Output { return BatchMatMulV2(x, y, o) })
	x, y := op.Input(0), op.Input(1)
	if sameBatches(x.Shape(), y.Shape()) {
		return tf.Grads(dx, db)
	}
	sx, sy := sizes(x), sizes(y)
	rx, ry := BroadcastGradientArgs(batchSizes(sx), batchSizes(sy))
	return tf.Grads(Reshape(Sum(dx, rx), sx), Reshape(Sum(db, ry), sy))
}

// sameBatches reports whether it is known that nothing was broadcast.
func sameBatches(x, y tf.Shape) bool {
	if len(x) == 2 && len(y) == 2 {
		return true
	}
	if len(x) < 2 || len(y) < 2 {
		return false
	}
	bx, by := x[:len(x)-2], y[:len(y)-2]
	return bx.Known() && by.Known() && slices.Equal(bx, by)
}

// batchSizes returns all of a vector of sizes but the last two.
func batchSizes(s tf.Output) tf.Output {
	zero := intVec(s, tf.Int32, 0)
	return Slice(s, zero, Sub(Shape(s), intVec(s, tf.Int32, 2)))
}
