package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

func init() {
	addFractionalPools()
	addFractionalGrads()
	addBadFractionals()
}

type fractionalPool func(x tf.Output, ratio []float32, opts ...tf.Option) (y, rows, columns tf.Output)

func (f fractionalPool) with(ratio []float32, o ops.FractionalPoolOpts) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		y, rows, columns := f(in[0], ratio, o)
		return []tf.Output{y, rows, columns}
	}
}

func addFractionalPools() {
	x := optest.Within(-40, 60, 2, 7, 9, 2)
	for _, op := range []struct {
		name string
		f    fractionalPool
	}{{"FractionalMaxPool", ops.FractionalMaxPool}, {"FractionalAvgPool", ops.FractionalAvgPool}} {
		for i, o := range []ops.FractionalPoolOpts{{}, {PseudoRandom: true}, {Overlapping: true}, {PseudoRandom: true, Overlapping: true}} {
			for k, ratio := range [][]float32{{1, 1.5, 1.73, 1}, {1, 1, 2.4, 1}, {1, 3.5, 4.5, 1}} {
				o.Deterministic, o.Seed, o.Seed2 = true, 3+i, 5+k
				name := fmt.Sprint(i, " ", k)
				types := onlyOwn
				if i+k == 0 {
					name, types = "", []tf.DType{tf.Float64, tf.Int32, tf.Int64}
				}
				addSamples(sample{Op: op.name, Name: name, In: []*core.Tensor{x}, F: op.f.with(ratio, o), Types: types, Tol: 1e-5})
			}
		}
	}
}

// edges are where windows begin on 7 rows and 9 columns.
var edges = []*core.Tensor{optest.Vec[int64](0, 2, 4, 5, 7), optest.Vec[int64](0, 1, 3, 6, 7, 9)}

func addFractionalGrads() {
	x := optest.Within(-40, 60, 2, 7, 9, 2)
	dy := optest.Within(-2, 3, 2, 4, 5, 2)
	maxGrad := func(g *tf.Graph, in []tf.Output, overlapping bool) []tf.Output {
		rows, columns := ops.ConstValue(g, edges[0]), ops.ConstValue(g, edges[1])
		return []tf.Output{ops.FractionalMaxPoolGrad(in[0], in[1], in[2], rows, columns, overlapping)}
	}
	avgGrad := func(g *tf.Graph, in []tf.Output, overlapping bool) []tf.Output {
		rows, columns := ops.ConstValue(g, edges[0]), ops.ConstValue(g, edges[1])
		return []tf.Output{ops.FractionalAvgPoolGrad(ops.Const(g, []int64{2, 7, 9, 2}, 4), in[0], rows, columns, overlapping)}
	}
	for _, overlapping := range []bool{false, true} {
		name, types := "", []tf.DType{tf.Float64, tf.Int32, tf.Int64}
		if overlapping {
			name, types = "overlapping", onlyOwn
		}
		addSamples(
			sample{Op: "FractionalAvgPoolGrad", Name: name, In: []*core.Tensor{dy}, Types: types, Tol: 1e-5,
				F: func(g *tf.Graph, in []tf.Output) []tf.Output { return avgGrad(g, in, overlapping) }},
			sample{Op: "FractionalMaxPoolGrad", Name: name, In: []*core.Tensor{x, maxima(x, overlapping), dy}, Types: types,
				F: func(g *tf.Graph, in []tf.Output) []tf.Output { return maxGrad(g, in, overlapping) }})
	}
}

// maxima returns the greatest elements of the windows between edges.
func maxima(x *core.Tensor, overlapping bool) *core.Tensor {
	s, rows, columns := x.Shape(), core.Data[int64](edges[0]), core.Data[int64](edges[1])
	y := optest.Seq(s[0], len(rows)-1, len(columns)-1, s[3])
	more := int64(0)
	if overlapping {
		more = 1
	}
	for i := range core.Data[float32](y) {
		ch, column := i%s[3], i/s[3]%(len(columns)-1)
		row, b := i/s[3]/(len(columns)-1)%(len(rows)-1), i/s[3]/(len(columns)-1)/(len(rows)-1)
		best := float32(-1000)
		for r := rows[row]; r < min(rows[row+1]+more, int64(s[1])); r++ {
			for c := columns[column]; c < min(columns[column+1]+more, int64(s[2])); c++ {
				best = max(best, core.Data[float32](x)[((b*s[1]+int(r))*s[2]+int(c))*s[3]+ch])
			}
		}
		core.Data[float32](y)[i] = best
	}
	return y
}

func addBadFractionals() {
	x := optest.Within(-40, 60, 2, 7, 9, 2)
	for _, op := range []string{"FractionalMaxPool", "FractionalAvgPool"} {
		for name, attrs := range map[string][]tf.Option{
			"large": {tf.Attr("pooling_ratio", []float32{1, 8, 1.5, 1})},
			"batch": {tf.Attr("pooling_ratio", []float32{2, 1.5, 1.5, 1})}, "seed": {tf.Attr("pooling_ratio", []float32{1, 1.5, 1.5, 1}), tf.Attr("seed", 1)},
		} {
			addSamples(optest.Failing(op, name, applied(op, attrs...), x))
		}
		ratio := tf.Attr("pooling_ratio", []float32{1, 1.5, 1.5, 1})
		addSamples(optest.Failing(op, "flat", applied(op, ratio), seq(7, 9, 2)), optest.Failing(op, "empty", applied(op, ratio), seq(0, 7, 9, 2)))
	}
	y := maxima(x, false)
	wrong := y.Clone()
	core.Data[float32](wrong)[3]++
	addSamples(optest.Failing("FractionalMaxPoolGrad", "other maxima", applied("FractionalMaxPoolGrad"), x, wrong, y, edges[0], edges[1]))
	own := "TensorFlow shows what the tensor holds, or ends the process"
	for name, in := range map[string][]*core.Tensor{
		"flat": {seq(7, 9, 2), y, y, edges[0], edges[1]}, "flat y": {x, seq(4, 5, 2), y, edges[0], edges[1]}, "flat dy": {x, y, seq(4, 5, 2), edges[0], edges[1]},
		"scalar": {x, y, y, optest.Scalar(int64(0)), edges[1]}, "short": {x, y, y, edges[0], edges[0]}, "negative": {x, y, y, optest.Vec[int64](0, -2, 4, 5, 7), edges[1]},
		"beyond": {x, y, y, optest.Vec[int64](0, 2, 4, 50, 70), edges[1]}, "dy": {x, y, seq(2, 4, 3, 2), edges[0], edges[1]}, "channels": {x, y, seq(2, 4, 5, 1), edges[0], edges[1]},
	} {
		s := optest.Failing("FractionalMaxPoolGrad", name, applied("FractionalMaxPoolGrad"), in...)
		s.NoGolden = own
		addSamples(s)
	}
	for name, shape := range map[string]*core.Tensor{"sizes": optest.Vec[int64](2, 7, 9), "negative size": optest.Vec[int64](2, -7, 9, 2), "huge": optest.Vec[int64](1<<40, 1<<40, 1<<40, 2)} {
		s := optest.Failing("FractionalAvgPoolGrad", name, applied("FractionalAvgPoolGrad"), shape, y, edges[0], edges[1])
		s.NoGolden = own
		addSamples(s)
	}
}

// TestFractionalWindows wants windows that differ in size by one at most, cover
// everything, and come again only if so asked.
func TestFractionalWindows(t *testing.T) {
	x := optest.Within(0, 1, 1, 50, 37, 1)
	for _, o := range []ops.FractionalPoolOpts{{}, {PseudoRandom: true}, {Deterministic: true, Seed: 9}} {
		g := eager.New()
		differ := false
		var first string
		for range 6 {
			_, rows, columns := ops.FractionalMaxPool(ops.ConstValue(g, x), []float32{1, 1.41, 2.6, 1}, o)
			text := ""
			for i, edges := range []tf.Output{rows, columns} {
				v, err := edges.Value()
				if err != nil {
					t.Fatal(err)
				}
				checkEdges(t, tf.Data[int64](v), []int{50, 37}[i], []int{35, 14}[i])
				text += v.String()
			}
			if first == "" {
				first = text
			}
			differ = differ || first != text
		}
		if differ == o.Deterministic {
			t.Errorf("%+v: the windows differ: %v", o, differ)
		}
	}
}

// TestFractionalRatio: images do not grow.
func TestFractionalRatio(t *testing.T) {
	g := tf.NewGraph()
	y, _, _ := ops.FractionalMaxPool(ops.ConstValue(g, optest.Within(0, 1, 1, 5, 5, 1)), []float32{1, 0.5, 1.5, 1})
	if err := y.Err(); err == nil || !strings.Contains(err.Error(), "pooling_ratio cannot be smaller than 1, got: 0.5") {
		t.Errorf("got %v", err)
	}
}

func checkEdges(t *testing.T, edges []int64, in, out int) {
	t.Helper()
	if len(edges) != out+1 || edges[0] != 0 || edges[out] != int64(in) {
		t.Fatalf("windows %v do not cover %d positions with %d", edges, in, out)
	}
	for i, e := range edges[1:] {
		if n := int(e - edges[i]); n < in/out || n > in/out+1 {
			t.Errorf("a window of %d in %v", n, edges)
		}
	}
}

// TestFractionalWindowsOfSizes: windows that are kept are kept for each size of
// images; those of one do not fit another.
func TestFractionalWindowsOfSizes(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil)
	y, rows, columns := ops.FractionalMaxPool(x, []float32{1, 1.41, 2.6, 1}, ops.FractionalPoolOpts{Deterministic: true, PseudoRandom: true, Seed: 9})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept := map[int]string{}
	for _, n := range []int{20, 50, 10, 20, 50} {
		v, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(optest.Within(0, 1, 1, n, n, 1))}, y, rows, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, edges := range v[1:] {
			if e := tf.Data[int64](edges); e[len(e)-1] != int64(n) {
				t.Errorf("windows on %d positions end at %d", n, e[len(e)-1])
			}
		}
		if text := fmt.Sprint(v); kept[n] == "" {
			kept[n] = text
		} else if kept[n] != text {
			t.Errorf("windows on %d positions are %s, then %s", n, kept[n], text)
		}
	}
}
