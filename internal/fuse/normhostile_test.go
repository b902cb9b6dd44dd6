package fuse_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A backward is a normalization that a rectifier follows, with the gradients of both.
type backward struct {
	g                    *tf.Graph
	x, dz, scale, offset tf.Output // which are fed
	norm, grads          []tf.Output
	z, gate              tf.Output
}

// A wiring says how one is made.
type wiring struct {
	shape              tf.Shape // of x, as far as the graph says
	relu6              bool
	rectify            func(y tf.Output) tf.Output // instead of Relu, or Relu6
	image, last        func(b *backward) tf.Output // instead of x, and of the normalization's last output
	normOpts, gradOpts []tf.Option
}

func newBackward(w wiring) *backward {
	b := &backward{g: tf.NewGraph()}
	b.x = ops.Placeholder(b.g, tf.Float32, w.shape)
	for _, in := range []*tf.Output{&b.dz, &b.scale, &b.offset} {
		*in = ops.Placeholder(b.g, tf.Float32, nil)
	}
	empty := ops.Const(b.g, []float32{})
	b.norm = tf.Apply(nil, "FusedBatchNormV3", []tf.Output{b.x, b.scale, b.offset, empty, empty}, w.normOpts...).Outputs()
	rectify, grad := func(y tf.Output) tf.Output { return ops.Relu(y) }, "ReluGrad"
	if w.relu6 {
		rectify, grad = func(y tf.Output) tf.Output { return ops.Relu6(y) }, "Relu6Grad"
	}
	if w.rectify != nil {
		rectify = w.rectify
	}
	b.z = rectify(b.norm[0])
	b.gate = tf.Apply(nil, grad, []tf.Output{b.dz, b.z}).Output(0)
	image, last := b.x, b.norm[5]
	if w.image != nil {
		image = w.image(b)
	}
	if w.last != nil {
		last = w.last(b)
	}
	b.grads = tf.Apply(nil, "FusedBatchNormGradV3", []tf.Output{b.gate, image, b.scale, b.norm[3], b.norm[4], last}, w.gradOpts...).Outputs()
	return b
}

func (b *backward) feeds(x, dz tf.Shape, channels int) session.Feeds {
	return session.Feeds{b.x: ramp(x), b.dz: ramp(dz), b.scale: ramp(tf.Shape{channels}), b.offset: ramp(tf.Shape{channels})}
}

func (b *backward) fetches() []tf.Fetchable {
	return []tf.Fetchable{b.grads[0], b.grads[1], b.grads[2], b.z, b.norm[1], b.norm[2]}
}

// TestNormShapes: normalizations and their gradients give the same values, or errors, whatever
// they are fed.
func TestNormShapes(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	for _, s := range []tf.Shape{{0, 2, 2, 3}, {2, 0, 2, 3}, {2, 2, 2, 0}, {1, 1, 1, 1}, {2, 3, 3, 1}, {2, 2, 2, 2, 3}, {3, 3}, {}} {
		c := 1
		if len(s) > 0 {
			c = s[len(s)-1]
		}
		for _, known := range []tf.Shape{nil, {-1, -1, -1, -1}} {
			for _, relu6 := range []bool{false, true} {
				t.Run(fmt.Sprint(s, known, relu6), func(t *testing.T) {
					b := newBackward(wiring{shape: known, relu6: relu6})
					compare(t, b.g, b.feeds(s, s, c), b.fetches())
					compare(t, b.g, b.feeds(s, s, c+1), b.fetches()[:1])
					compare(t, b.g, b.feeds(s, tf.Shape{2, 3, 3, 3}, c), b.fetches()[:1])
				})
			}
		}
	}
}

// TestNormValues: so they do of numbers that are none.
func TestNormValues(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	odd := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 3e38, -3e38, 0, 1e-45, float32(math.Copysign(0, -1))}
	s := tf.Shape{2, 3, 3, 5}
	for _, relu6 := range []bool{false, true} {
		b := newBackward(wiring{relu6: relu6})
		for i := range len(odd) * len(odd) {
			v, w := odd[i/len(odd)], odd[i%len(odd)]
			f := b.feeds(s, s, 5)
			set := func(x tf.Output, at int, v float32) { core.Data[float32]((*core.Tensor)(f[x].(*tf.Tensor)))[at] = v }
			set(b.x, 7, v)
			set(b.x, 12, w)
			set(b.dz, 7, w)
			set(b.dz, 11, v)
			set(b.offset, 0, w)
			set(b.scale, 4, v)
			t.Run(fmt.Sprint(v, w, relu6), func(t *testing.T) { compare(t, b.g, f, b.fetches()) })
		}
	}
}

// TestNormWirings: so they do where gradients are not those of the normalization, or are read by
// others.
func TestNormWirings(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	s := tf.Shape{2, 3, 3, 5}
	for name, w := range map[string]wiring{
		"epsilon":       {gradOpts: []tf.Option{tf.Attr("epsilon", float32(0.5))}},
		"factor":        {normOpts: []tf.Option{tf.Attr("exponential_avg_factor", float32(0.5))}},
		"not training":  {gradOpts: []tf.Option{tf.Attr("is_training", false)}},
		"last is gate":  {last: func(b *backward) tf.Output { return b.gate }},
		"image is dz":   {image: func(b *backward) tf.Output { return b.dz }},
		"image is z":    {image: func(b *backward) tf.Output { return b.z }},
		"image is gate": {image: func(b *backward) tf.Output { return b.gate }},
		"other bound":   {rectify: func(y tf.Output) tf.Output { return ops.Relu6(y) }},
		"twice":         {rectify: func(y tf.Output) tf.Output { return ops.Relu(ops.Relu(y)) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackward(w)
			compare(t, b.g, b.feeds(s, s, 5), b.fetches())
			compare(t, b.g, b.feeds(s, s, 5), b.fetches()[:1])
			compare(t, b.g, b.feeds(s, s, 5), []tf.Fetchable{b.grads[0], b.gate})
		})
	}
}

// TestNormGradWaits: a gradient waits for what the rectifier waits for, although it is computed
// without its result: nothing that follows from it happens if an assertion before that fails.
func TestNormGradWaits(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	s := tf.Shape{2, 3, 3, 5}
	var slow tf.Output
	b := newBackward(wiring{rectify: func(y tf.Output) (z tf.Output) {
		g := y.Graph()
		slow = ops.Placeholder(g, tf.Float32, nil)
		x := slow
		for range 10 {
			x = ops.MatMul(x, x)
		}
		a := ops.Assert(ops.Less(ops.Sum(ops.Abs(x), []int{0, 1}), ops.Scalar[float32](g, -1)), []tf.Output{slow})
		g.ControlDependencies([]*tf.Operation{a}, func() { z = ops.Relu(y) })
		return z
	}})
	v := tf.NewVariable(ops.Const(b.g, make([]float32, 5)), tf.VariableOptions{})
	add := v.AssignAdd(ops.OnesLike(b.grads[1]))
	for _, c := range []session.Config{{DisabledPasses: []string{"fusion"}}, {}} {
		session := must(session.New(b.g, session.With(c)))
		defer session.Close()
		must(session.Run(t.Context(), nil, tf.InitializeAll(b.g)))
		f := b.feeds(s, s, 5)
		f[slow] = ramp(tf.Shape{200, 200})
		if _, err := session.Run(t.Context(), f, add); err == nil {
			t.Error("an assertion that fails has no effect")
		}
		if got := must(session.Run(t.Context(), nil, v.Value()))[0]; tf.Data[float32](got)[0] != 0 {
			t.Errorf("a variable has changed after an assertion that failed: %v", got)
		}
	}
}

// TestNormGradDead: it is dead where the rectifier is.
func TestNormGradDead(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	s := tf.Shape{2, 3, 3, 5}
	for _, taken := range []bool{true, false} {
		var p tf.Output
		b := newBackward(wiring{rectify: func(y tf.Output) (z tf.Output) {
			p = ops.Placeholder(y.Graph(), tf.Bool, tf.Shape{})
			on := ops.Identity(tf.Apply(nil, "Switch", []tf.Output{p, p}).Output(1))
			y.Graph().ControlDependencies([]*tf.Operation{on.Operation()}, func() { z = ops.Relu(y) })
			return z
		}})
		f := b.feeds(s, s, 5)
		f[p] = tf.Scalar(taken)
		compare(t, b.g, f, []tf.Fetchable{b.grads[0]})
	}
}

// TestNormVariableShapes: a variable may have a value of another shape than it was declared with.
// What refuses that is the normalization.
func TestNormVariableShapes(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	for i := range 24 {
		at, s, training := i/6, []tf.Shape{{4}, {}, {1, 3}}[i%3], i%6 < 3
		g := tf.NewGraph()
		v := tf.Apply(g, "VarHandleOp", nil, tf.Attr("dtype", tf.Float32), tf.Attr("shape", tf.Shape{3})).Output(0)
		value := ops.Placeholder(g, tf.Float32, nil)
		set := ops.AssignVariableOp(v, value)
		three := ops.Const(g, []float32{1, 2, 3})
		in := []tf.Output{ops.ConstTensor(g, ramp(tf.Shape{2, 3, 3, 3})), three, three, three, three}
		in[1+at] = ops.ReadVariableOp(v, tf.Float32)
		y := ops.Relu(tf.Apply(nil, "FusedBatchNormV3", in, tf.Name("norm"), tf.Attr("is_training", training), tf.Attr("exponential_avg_factor", float32(0.5))).Output(0))
		ss := must(session.New(g))
		defer ss.Close()
		must(ss.Run(t.Context(), session.Feeds{value: ramp(s)}, set))
		_, err := ss.Run(t.Context(), nil, y)
		if e := core.AsError(err); err == nil || e.Code != core.InvalidArgument || e.Node != "norm" {
			t.Errorf("input %d of shape %v, training %v: %v", 1+at, s, training, err)
		}
	}
}

// TestNormImagesContradict: so may the images. What is wrong with them is said as without clusters.
func TestNormImagesContradict(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	for _, training := range []bool{false, true} {
		g := tf.NewGraph()
		v := declare(g, tf.Shape{2, 3, 3, 3})
		three := ops.Const(g, []float32{1, 2, 3})
		moments := three
		if training {
			moments = ops.Const(g, []float32{})
		}
		y := ops.Relu(tf.Apply(nil, "FusedBatchNormV3", []tf.Output{v.read, three, three, moments, moments}, tf.Attr("is_training", training)).Output(0))
		plain, fused := open(t, g)
		for _, s := range []tf.Shape{{2, 4, 4, 3}, {2, 2, 2, 2, 3}, {0, 3, 3, 3}, {3, 3, 3}, {3}, {}, {2, 3, 3, 5}, {2, 3, 3, 0}} {
			run := func(ss *session.Session) ([]*tf.Tensor, *core.Error) {
				must(ss.Run(t.Context(), session.Feeds{v.value: ramp(s)}, v.set))
				out, err := ss.Run(t.Context(), nil, y)
				return out, core.AsError(err)
			}
			want, wantErr := run(plain)
			got, err := run(fused[0])
			switch {
			case (err == nil) != (wantErr == nil), err != nil && (err.Code != wantErr.Code || err.Message() != wantErr.Message() || err.Node != wantErr.Node):
				t.Errorf("of shape %v, training %v: error %v, want %v", s, training, err, wantErr)
			case err == nil && differ(got[0], want[0]) != "":
				t.Errorf("of shape %v, training %v: %s", s, training, differ(got[0], want[0]))
			}
		}
	}
}
