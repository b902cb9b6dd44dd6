package fuse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// folds are the reductions that clusters take.
var folds = []func(x tf.Output, axes []int, o ...tf.Option) tf.Output{ops.Sum[[]int], ops.Mean[[]int], ops.Max[[]int], ops.Min[[]int], ops.Prod[[]int]}

// rowProgram is a graph, drawn at random, of rows that are reduced, and of what the
// results are broadcast to.
type rowProgram struct {
	*program
	rows     tf.Shape // what is before the axes that are reduced
	row      tf.Shape
	columns  []tf.Output // one element for each row, dimensions kept
	vectors  []tf.Output // the same, dimensions not kept
	rowFeeds []tf.Output // one row
}

var (
	rowCounts = []int{0, 1, 2, 3, 7, 33, 100, 1000}
	rowWidths = []int{1, 2, 3, 5, 16, 17, 64, 100, 129, 256, 1000, 3000, 9000, 17000}
)

// maxProgram bounds the elements of a tensor.
const maxProgram = 100_000

func newRowProgram(seed uint64) *rowProgram {
	p := beginRows(seed, 11)
	for range 4 + p.IntN(20) {
		p.addRow()
	}
	return p
}

// beginRows returns a graph that only has feeds.
func beginRows(seed, salt uint64) *rowProgram {
	p := &rowProgram{program: &program{Rand: rand.New(rand.NewPCG(seed, salt)), g: tf.NewGraph(), feeds: session.Feeds{}, dtype: tf.Float32}}
	if p.IntN(4) == 0 {
		p.dtype = tf.Float64
	}
	for p.full == nil || p.full.NumElements() > maxProgram {
		p.rows, p.row = p.sizes(rowCounts), p.sizes(rowWidths)
		p.full = append(p.rows.Clone(), p.row...)
	}
	known := p.full.Clone()
	if p.IntN(2) == 0 {
		known[0] = -1
	}
	p.floats = []tf.Output{p.fed(known, p.full), p.fed(known, p.full)}
	column := append(known[:len(p.rows)].Clone(), ones(len(p.row))...)
	p.columns = []tf.Output{p.fed(column, append(p.rows.Clone(), ones(len(p.row))...))}
	p.rowFeeds = []tf.Output{p.fed(p.row, p.row), p.fed(tf.Shape{}, tf.Shape{})}
	mask := p.full.Clone()
	mask[p.IntN(len(p.rows))] = 1
	p.rowFeeds = append(p.rowFeeds, p.fed(mask, mask))
	return p
}

// sizes draws one size or two.
func (p *rowProgram) sizes(from []int) tf.Shape {
	if p.IntN(4) > 0 {
		return tf.Shape{from[p.IntN(len(from))]}
	}
	return tf.Shape{1 + p.IntN(4), from[p.IntN(len(from))]}
}

func ones(n int) tf.Shape {
	s := make(tf.Shape, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

func (p *rowProgram) fed(known, s tf.Shape) tf.Output {
	x := ops.Placeholder(p.g, p.dtype, known)
	p.feeds[x] = p.tensor(s)
	return x
}

// axes returns the axes of a row, counted from either end.
func (p *rowProgram) axes() (axes []int) {
	for i := range p.row {
		a := len(p.rows) + i
		if p.IntN(2) == 0 {
			a -= len(p.full)
		}
		axes = append(axes, a)
	}
	p.Shuffle(len(axes), func(i, j int) { axes[i], axes[j] = axes[j], axes[i] })
	return axes
}

func anyOf(p *rowProgram, of []tf.Output) tf.Output { return of[p.IntN(len(of))] }

func (p *rowProgram) addRow() {
	x, c := p.recent(), anyOf(p, p.columns)
	op := binaries[p.IntN(len(binaries))]
	switch p.IntN(10) {
	case 0:
		p.floats = append(p.floats, unaries[p.IntN(len(unaries))](x))
	case 1:
		p.floats = append(p.floats, op(x, p.pick()))
	case 2, 3:
		p.floats = append(p.floats, op(x, c))
	case 4:
		p.floats = append(p.floats, op(c, x))
	case 5:
		p.floats = append(p.floats, op(x, anyOf(p, p.rowFeeds)))
	case 6:
		if p.IntN(3) == 0 {
			p.floats = append(p.floats, []unary{ops.Softmax, ops.LogSoftmax}[p.IntN(2)](x))
			return
		}
		p.columns = append(p.columns, folds[p.IntN(len(folds))](x, p.axes(), ops.ReduceOpts{KeepDims: true}))
	case 7:
		if p.IntN(2) == 0 {
			p.vectors = append(p.vectors, unaries[p.IntN(len(unaries))](folds[p.IntN(len(folds))](x, p.axes())))
		} else {
			p.columns = append(p.columns, ops.Cast(ops.Any(ops.Less(x, c), p.axes(), ops.ReduceOpts{KeepDims: true}), p.dtype))
		}
	case 8:
		p.columns = append(p.columns, op(c, anyOf(p, p.columns)), unaries[p.IntN(len(unaries))](c), op(c, p.rowFeeds[1]))
	default:
		p.floats = append(p.floats, ops.SelectV2(ops.Greater(x, c), x, c))
	}
}

// wanted draws what is fetched.
func (p *rowProgram) wanted() (out []tf.Fetchable) {
	last := p.floats[len(p.floats)-1]
	for _, all := range [][]tf.Output{p.floats, p.columns, p.vectors} {
		for _, x := range all {
			if p.IntN(5) == 0 || x == last {
				out = append(out, x)
			}
		}
	}
	return out
}

// TestRowsHaveTheSameBits: reductions within clusters give the bits that they give by
// themselves, with any number of threads.
func TestRowsHaveTheSameBits(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newRowProgram(seed)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			compare(t, p.g, p.feeds, p.wanted())
		})
	}
}

// TestGradientsOfRowsHaveTheSameBits: so do gradients.
func TestGradientsOfRowsHaveTheSameBits(t *testing.T) {
	for seed := range uint64(seeds / 4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newRowProgram(seed + 5000)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			fetches := p.wanted()
			for x := range p.feeds {
				dx, err := tf.Gradients(p.floats[len(p.floats)-1], x)
				if err == nil && dx[0].Graph() != nil {
					fetches = append(fetches, dx[0])
				}
			}
			compare(t, p.g, p.feeds, fetches)
		})
	}
}

// TestChainsAreOneCluster: softmax and layer norm, written as programs do, are one
// cluster each; a reduction along the first axis or of long rows is none.
func TestChainsAreOneCluster(t *testing.T) {
	g := tf.NewGraph()
	fed, longFed := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 64}), ops.Placeholder(g, tf.Float32, tf.Shape{-1, 20000})
	x := ops.Reshape(fed, ops.Constant(g, []int32{-1, 64}))
	e := ops.Exp(ops.Sub(x, ops.Max(x, []int{1}, ops.ReduceOpts{KeepDims: true})))
	softmax := ops.RealDiv(e, ops.Sum(e, []int{-1}, ops.ReduceOpts{KeepDims: true}), tf.Name("softmax"))
	mean := ops.Mean(x, []int{1}, ops.ReduceOpts{KeepDims: true})
	variance := ops.Mean(ops.SquaredDifference(x, mean), []int{1}, ops.ReduceOpts{KeepDims: true})
	norm := ops.Mul(ops.Sub(x, mean), ops.Rsqrt(ops.AddV2(variance, ops.Scalar[float32](g, 1e-5))), tf.Name("norm"))
	down := ops.Sum(ops.Neg(ops.Exp(norm)), []int{0}, tf.Name("down"))
	long := ops.Max(ops.Reshape(longFed, ops.Constant(g, []int32{-1, 20000})), []int{1}, tf.Name("long"))
	masked := ops.Mul(ops.Softmax(ops.AddV2(ops.Mul(x, ops.Scalar[float32](g, 0.5)), x)), x, tf.Name("masked"))
	half := ops.Max(ops.Cast(x, tf.Float16), []int{1}, tf.Name("half"))
	text := explain(t, g, session.Feeds{fed: ramp(tf.Shape{5, 64}), longFed: ramp(tf.Shape{2, 20000})}, softmax, norm, down, long, masked, half)
	for _, want := range []string{"softmax/fused: 5 nodes", "fused: 9 nodes", "masked/fused: 4 nodes", "half = Max (dtype: its kernel for float16 has no loop that computes a part)", "down = Sum (it does not reduce the last axes)", "long = Max (its rows have 20000 elements: it must be 2 to 4096)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestRowShapesChange: one session runs rows in ever new numbers, none and one among
// them, and of a rank that nothing has said.
func TestRowShapesChange(t *testing.T) {
	g := tf.NewGraph()
	x, c := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1, 33}), ops.Placeholder(g, tf.Float32, nil)
	y := ops.Mul(ops.Exp(x), c)
	z := ops.Sub(y, ops.Mean(y, []int{-1}, ops.ReduceOpts{KeepDims: true}))
	plain, fused := open(t, g)
	for i := range 100 {
		s := tf.Shape{i % 5, 1 + i*7%40, 33}
		feeds := session.Feeds{x: ramp(s), c: ramp([]tf.Shape{{}, {33}, {s[1], 1}, {s[0], 1, 33}, s, {1, s[1], 1}}[i%6])}
		want := must(plain.Run(context.Background(), feeds, z, y))
		for _, s := range fused {
			got := must(s.Run(context.Background(), feeds, z, y))
			if why := differ(got[0], want[0]) + differ(got[1], want[1]); why != "" {
				t.Fatalf("%d: %s", i, why)
			}
		}
	}
}

// TestRowsInControlFlow: in branches, loops and functions, and with gradients.
func TestRowsInControlFlow(t *testing.T) {
	g := tf.NewGraph()
	x, p := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 8}), ops.Placeholder(g, tf.Bool, tf.Shape{})
	norm := func(x tf.Output) tf.Output {
		e := ops.Exp(ops.Sub(x, ops.Max(x, []int{1}, ops.ReduceOpts{KeepDims: true})))
		return ops.RealDiv(e, ops.Sum(e, []int{1}, ops.ReduceOpts{KeepDims: true}))
	}
	c := tf.Cond(p, func() []tf.Output { return []tf.Output{norm(ops.Neg(x))} }, func() []tf.Output { return []tf.Output{norm(x)} })
	w := tf.While([]tf.Output{ops.Scalar[int32](g, 0), c[0]}, func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar[int32](g, 3)) },
		func(v []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(v[0], ops.Scalar[int32](g, 1)), norm(ops.AddV2(ops.Square(v[1]), x))}
		})
	f := tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Float32, Shape: tf.Shape{-1, 8}}}, func(in []tf.Output) []tf.Output { return []tf.Output{norm(in[0])} })
	out := f.Call([]tf.Output{w[1]})[0]
	dx := must(tf.Gradients(out, x))
	for _, taken := range []bool{false, true} {
		compare(t, g, session.Feeds{x: ramp(tf.Shape{5, 8}), p: (*tf.Tensor)(core.Scalar(taken))}, []tf.Fetchable{out, w[1], c[0], dx[0]})
	}
}
