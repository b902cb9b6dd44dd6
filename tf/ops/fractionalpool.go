package ops

import (
	"math"
	"math/rand/v2"

	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const out = "output: T; row_pooling_sequence: int64; col_pooling_sequence: int64"
	const types = "T: {float, double, int32, int64}"
	const attrs = "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; deterministic: bool = false; seed: int = 0; seed2: int = 0; " + types
	const sequences = "row_pooling_sequence: int64; col_pooling_sequence: int64"
	core.Register(core.OpDef{
		Name: "FractionalMaxPool", In: "value: T", Out: out, Attrs: attrs, Shape: fractionalShape, Grad: tf.GradFunc(fractionalMaxGrad),
		Kernels: core.ByType("T", byType{tf.Float32: fractional(pool.MaxPixels[float32]), tf.Float64: fractional(pool.MaxPixels[float64]), tf.Int32: fractional(pool.MaxPixels[int32]), tf.Int64: fractional(pool.MaxPixels[int64])}),
	})
	core.Register(core.OpDef{
		Name: "FractionalAvgPool", In: "value: T", Out: out, Attrs: attrs, Shape: fractionalShape, Grad: tf.GradFunc(fractionalAvgGrad),
		Kernels: core.ByType("T", byType{tf.Float32: fractional(meanOf[float32]), tf.Float64: fractional(meanOf[float64]), tf.Int32: fractional(meanOf[int32]), tf.Int64: fractional(meanOf[int64])}),
	})
	core.Register(core.OpDef{
		Name: "FractionalMaxPoolGrad", In: "orig_input: T; orig_output: T; out_backprop: T; " + sequences, Out: "output: T", Attrs: "overlapping: bool = false; " + types,
		Shape: fractionalMaxBackShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.Float32: fractionalMaxBack[float32], tf.Float64: fractionalMaxBack[float64], tf.Int32: fractionalMaxBack[int32], tf.Int64: fractionalMaxBack[int64]}),
	})
	core.Register(core.OpDef{
		Name: "FractionalAvgPoolGrad", In: "orig_input_tensor_shape: int64; out_backprop: T; " + sequences, Out: "output: T", Attrs: "overlapping: bool = false; " + types,
		Shape: fractionalAvgBackShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.Float32: fractionalAvgBack[float32], tf.Float64: fractionalAvgBack[float64], tf.Int32: fractionalAvgBack[int32], tf.Int64: fractionalAvgBack[int64]}),
	})
}

// FractionalPoolOpts are the optional attributes of FractionalMaxPool and
// FractionalAvgPool.
type FractionalPoolOpts struct {
	// PseudoRandom draws one number for the windows along a dimension instead
	// of shuffling their sizes.
	PseudoRandom bool
	// Overlapping lets windows share the positions at their edges.
	Overlapping bool
	// Deterministic keeps the windows for images of one size, which Seed and
	// Seed2 then decide. Without it seeds have to be 0.
	Deterministic bool
	Seed, Seed2   int
}

// Apply sets the attributes.
func (o FractionalPoolOpts) Apply(s *tf.Spec) {
	s.Set("pseudo_random", o.PseudoRandom)
	s.Set("overlapping", o.Overlapping)
	s.Set("deterministic", o.Deterministic)
	s.Set("seed", o.Seed)
	s.Set("seed2", o.Seed2)
}

// FractionalMaxPool returns the maxima of windows of random sizes on images
// [batch height width channels], which make them smaller by ratio, at least
// 1, for each dimension: 1 for those of batch and channels. It also returns
// where the windows begin, by rows and columns, with the end of the last. The
// method is that of Graham (arXiv:1412.6071).
// Its options are [FractionalPoolOpts]. x and y hold int32, int64, float32 or
// float64; y has height and width divided by their ratios and rounded down,
// rows and columns are int64 vectors. A ratio for batch or channels other
// than 1 is refused with UNIMPLEMENTED. A ratio that is less than 1 or has
// not four numbers, an x of another rank or smaller than its ratio, and seeds
// without Deterministic are refused with INVALID_ARGUMENT.
func FractionalMaxPool(x tf.Output, ratio []float32, opts ...tf.Option) (y, rows, columns tf.Output) {
	op := tf.Apply(nil, "FractionalMaxPool", []tf.Output{x}, tf.Join(opts, tf.Attr("pooling_ratio", ratio))...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// FractionalAvgPool is FractionalMaxPool with means.
// Its options are [FractionalPoolOpts]. Means of integers are rounded towards
// zero. The method is that of Graham (arXiv:1412.6071). Shapes, types and
// errors are those of FractionalMaxPool.
func FractionalAvgPool(x tf.Output, ratio []float32, opts ...tf.Option) (y, rows, columns tf.Output) {
	op := tf.Apply(nil, "FractionalAvgPool", []tf.Output{x}, tf.Join(opts, tf.Attr("pooling_ratio", ratio))...)
	return op.Output(0), op.Output(1), op.Output(2)
}

func ratiosOf(n *core.Node) ([]float32, error) {
	r, _ := n.Attr("pooling_ratio").([]float32)
	if len(r) != 4 {
		return nil, tf.Errorf(tf.InvalidArgument, "pooling_ratio field must specify 4 dimensions")
	}
	for _, v := range r {
		if !(v >= 1) {
			return nil, tf.Errorf(tf.InvalidArgument, "pooling_ratio cannot be smaller than 1, got: %v", v)
		}
	}
	return r, nil
}

// pooledSize returns how many windows there are along n positions.
func pooledSize(n int, ratio float32) int { return int(math.Floor(float64(float32(n) / ratio))) }

func fractionalShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	r, err := ratiosOf(c.Node)
	if err != nil {
		return err
	}
	out := unknownDims(4)
	for i := range s {
		if s[i] < 0 {
			continue
		}
		if out[i] = pooledSize(s[i], r[i]); out[i] < 0 {
			return tf.Errorf(tf.InvalidArgument, "Size computed for dim %d is negative: %d", i, out[i])
		}
	}
	c.Set(0, out)
	c.Set(1, unknownDims(1))
	c.Set(2, unknownDims(1))
	return nil
}

// A fractionalPool holds the attributes of a node.
type fractionalPool struct {
	ratios                    []float32
	pseudo, overlapping, keep bool
	seed, seed2               int64 // 0: each run draws windows of its own
}

func fractionalOf(n *core.Node) (*fractionalPool, error) {
	kind := map[string]string{"FractionalMaxPool": "max", "FractionalAvgPool": "average"}[n.OpName()]
	r, err := ratiosOf(n)
	if err != nil {
		return nil, err
	}
	p := &fractionalPool{ratios: r, pseudo: n.Bool("pseudo_random"), overlapping: n.Bool("overlapping"), keep: n.Bool("deterministic")}
	p.seed, p.seed2 = int64(n.Int("seed")), int64(n.Int("seed2"))
	seeded := p.seed != 0 || p.seed2 != 0
	switch {
	case r[0] != 1 || r[3] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Fractional %s pooling is not yet supported on the batch nor channel dimension.", kind)
	case !p.keep && seeded:
		return nil, tf.Errorf(tf.InvalidArgument, "Both seed and seed2 should be 0 if deterministic is false.")
	case p.keep && !seeded:
		p.seed, p.seed2 = rand.Int64(), rand.Int64()
	}
	return p, nil
}

// sequences returns where windows begin, along height and width of images of
// shape s: where they are kept, the same for all images of a shape.
func (p *fractionalPool) sequences(s tf.Shape) (rows, columns []int64) {
	g := random.NewGenerator(p.seed, p.seed2)
	rows = p.sequence(g, s[1], pooledSize(s[1], p.ratios[1]))
	return rows, p.sequence(g, s[2], pooledSize(s[2], p.ratios[2]))
}

// sequence draws where n windows on in positions begin.
func (p *fractionalPool) sequence(g *random.Generator, in, n int) []int64 {
	sizes := core.Make[int64](n)
	if p.pseudo {
		drawEdges(g, sizes, in)
	} else {
		shuffleSizes(g, sizes, in)
	}
	out := core.Make[int64](n + 1)
	for i, s := range sizes {
		out[i+1] = out[i] + s
	}
	return out
}

// shuffleSizes draws sizes that differ by one at most.
func shuffleSizes(g *random.Generator, sizes []int64, in int) {
	n := len(sizes)
	for i := range sizes {
		sizes[i] = int64(in / n)
		if i < in%n {
			sizes[i]++
		}
	}
	random.Shuffle(g.ReserveBlocks(uint64(n+3)/4), sizes)
}

// drawEdges puts the windows at even distances from a random start, which is
// bounded so that sizes differ by one at most.
func drawEdges(g *random.Generator, sizes []int64, in int) {
	n := len(sizes)
	alpha, k := float64(in)/float64(n), in/n
	most := min(float64(k+2)/alpha-1, float64(in+1-k)/alpha-float64(n-1))
	u := random.NewWords(g.ReserveBlocks(1)).Float64() * most
	last := int64(1)
	for i := range sizes {
		edge := int64(in + 1)
		if i+1 < n {
			edge = int64(math.Ceil(alpha * (float64(i+1) + u)))
		}
		sizes[i], last = edge-last, edge
	}
}

// check wants images that are large enough.
func (p *fractionalPool) check(s tf.Shape) error {
	if len(s) != 4 {
		return tf.Errorf(tf.InvalidArgument, "tensor_in must be 4-dimensional")
	}
	for i, n := range s {
		if float32(n) < p.ratios[i] {
			return tf.Errorf(tf.InvalidArgument, "Pooling ratio is higher than input dimension size for dimension %d. Input dim size: %d pooling ratio: %v", i, n, p.ratios[i])
		}
	}
	return nil
}

// fractional makes a kernel of what computes a window: y, a number for each
// channel, from the pixels of x that begin with the given elements.
func fractional[T interface {
	numeric.Real
	tf.Elem
}](window func(y, x []T, pixels []int)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		p, err := fractionalOf(n)
		if err != nil {
			return nil, err
		}
		return core.Compute(func(c *core.OpContext) error {
			s := c.Input(0).Shape()
			if err := p.check(s); err != nil {
				return err
			}
			rows, columns := p.sequences(s)
			w := &fractionalWindows{in: s, rows: rows, columns: columns, overlapping: p.overlapping}
			out, err := c.Alloc(0, c.Input(0).DType(), w.out())
			if err != nil {
				return err
			}
			for i, v := range [][]int64{rows, columns} {
				t, err := c.Alloc(1+i, tf.Int64, tf.Shape{len(v)})
				if err != nil {
					return err
				}
				copy(core.Data[int64](t), v)
			}
			x, y := core.Data[T](c.Input(0)), core.Data[T](out)
			w.parallel(c, func(to int, pixels []int) { window(y[to:to+s[3]], x, pixels) })
			return nil
		}), nil
	}
}

// meanOf sets y to the means of pixels. A sum of zeros is +0.
func meanOf[T numeric.Real](y, x []T, pixels []int) {
	pool.SumPixels(y, x, pixels)
	if n := T(len(pixels)); n != 0 {
		for i := range y {
			y[i] = (y[i] + 0) / n
		}
	}
}

// fractionalWindows are windows of any sizes side by side on images of shape
// in, given by where they begin and the last one ends.
type fractionalWindows struct {
	in            tf.Shape
	rows, columns []int64
	overlapping   bool
}

// out returns the shape of the results.
func (w *fractionalWindows) out() tf.Shape {
	return tf.Shape{w.in[0], len(w.rows) - 1, len(w.columns) - 1, w.in[3]}
}

// end returns where window i of a sequence ends, on n positions.
func (w *fractionalWindows) end(edges []int64, i, n int) int {
	end := int(edges[i+1])
	if w.overlapping {
		end++
	}
	return min(end, n)
}

// lines calls f for each window in lines [lo, hi) of windows: the first element of its
// result, and those of its pixels.
func (w *fractionalWindows) lines(lo, hi int, f func(to int, pixels []int)) {
	out := w.out()
	var pixels []int
	for line := lo; line < hi; line++ {
		b, r := line/out[1], line%out[1]
		for k := range out[2] {
			pixels = pixels[:0]
			first, end := int(w.columns[k]), w.end(w.columns, k, w.in[2])
			for y := int(w.rows[r]); y < w.end(w.rows, r, w.in[1]); y++ {
				for x := first; x < end; x++ {
					pixels = append(pixels, ((b*w.in[1]+y)*w.in[2]+x)*w.in[3])
				}
			}
			f((line*out[2]+k)*out[3], pixels)
		}
	}
}

// parallel calls f for all windows, several lines at once.
func (w *fractionalWindows) parallel(c *core.OpContext, f func(to int, pixels []int)) {
	grain := max(1, elementGrain*max(1, len(w.rows)-1)/max(1, w.in[1]*w.in[2]*w.in[3]))
	c.ParallelFor(w.in[0]*(len(w.rows)-1), grain, func(lo, hi int) { w.lines(lo, hi, f) })
}
