package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// windowed draws a program that cuts values along an axis, computes with the parts, and
// joins some of them.
func windowed(seed uint64) (p *program, fetches []tf.Fetchable) {
	p = &program{Rand: rand.New(rand.NewPCG(seed, 11)), g: tf.NewGraph(), feeds: session.Feeds{}, dtype: tf.Float32}
	if p.IntN(4) == 0 {
		p.dtype = tf.Float64
	}
	sizes := []int{0, 1, 2, 3, 16, 33, 128, 700}
	n, rows := 2+p.IntN(3), []int{1, 2, 5, 32, 40}[p.IntN(5)]
	width, inner := sizes[p.IntN(len(sizes))], []int{1, 1, 1, 3}[p.IntN(4)]
	part, axis := tf.Shape{rows, width, inner}, 1
	if p.full = part; inner == 1 {
		p.full = part[:2]
	}
	whole := p.full.Clone()
	whole[axis] *= n
	static, known := p.IntN(2) == 0, whole.Clone()
	if !static {
		known[0] = -1
	}
	x := ops.Placeholder(p.g, p.dtype, known)
	p.feeds[x] = p.tensor(whole)
	if p.IntN(3) > 0 {
		x = ops.Neg(x) // what shape it has is known to the graph of a step
	}
	p.floats = p.cut(x, n, width, axis)
	p.feed(true, true)
	for range 3 + p.IntN(20) {
		p.add()
	}
	for range 1 + p.IntN(2) {
		var parts []tf.Output
		for range n {
			parts = append(parts, p.recent())
		}
		if joined := ops.Concat(axis, parts); p.IntN(3) == 0 {
			fetches = append(fetches, ops.Exp(ops.Neg(joined)))
		} else {
			fetches = append(fetches, joined)
		}
	}
	return p, append(fetches, p.fetches()...)
}

// cut cuts n parts of one width in one of the ways that there are.
func (p *program) cut(x tf.Output, n, width, axis int) (parts []tf.Output) {
	switch p.IntN(4) {
	case 0:
		return ops.Split(x, n, axis-len(p.full)*p.IntN(2))
	case 1:
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = width
		}
		return ops.SplitV(x, sizes, axis, n)
	}
	if p.IntN(2) == 0 {
		return p.cutStrided(x, n, width, axis)
	}
	begin, size := make([]int, len(p.full)), make([]int, len(p.full))
	for i := range size {
		size[i] = -1
	}
	for i := range n {
		if begin[axis], size[axis] = i*width, width; i == n-1 && p.IntN(2) == 0 {
			size[axis] = -1
		}
		parts = append(parts, ops.Slice(x, begin, size))
	}
	return parts
}

// cutStrided cuts parts by their first and last places: some of which lie behind the end, or
// are counted from it.
func (p *program) cutStrided(x tf.Output, n, width, axis int) (parts []tf.Output) {
	for i := range n {
		begin, end, strides := make([]int, len(p.full)), slices.Clone([]int(p.full)), make([]int, len(p.full))
		for d := range strides {
			strides[d] = 1
		}
		begin[axis], end[axis] = i*width, (i+1)*width
		switch {
		case i == n-1 && p.IntN(2) == 0:
			end[axis] += p.IntN(3)
		case i > 0 && i < n-1 && width > 0 && p.IntN(3) == 0:
			begin[axis], end[axis] = begin[axis]-n*width, end[axis]-n*width
		}
		parts = append(parts, ops.StridedSlice(x, begin, end, strides))
	}
	return parts
}

// TestWindowsHaveTheSameBits: parts that clusters read and write in place have the bits of
// values that are cut, and joined, by themselves.
func TestWindowsHaveTheSameBits(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p, fetches := windowed(seed)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			compare(t, p.g, p.feeds, fetches)
		})
	}
}

// TestJoinedShapesDiffer: parts that turn out not to fit together are the error that their
// joint has by itself.
func TestJoinedShapesDiffer(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 4}), ops.Placeholder(g, tf.Float32, tf.Shape{-1, 4})
	a := ops.Exp(ops.Mul(x, y))
	joined := ops.Concat(1, []tf.Output{a, ops.Neg(ops.AddV2(a, x)), ops.Square(ops.AddV2(ops.Neg(x), a))})
	for _, rows := range [][2]int{{3, 3}, {1, 3}, {3, 1}, {2, 3}} {
		compare(t, g, session.Feeds{x: vectorOf(rows[0], 4), y: vectorOf(rows[1], 4)}, []tf.Fetchable{joined})
	}
	b := ops.Concat(1, []tf.Output{ops.Neg(ops.Square(x)), a, ops.Mul(a, ops.Square(x))})
	compare(t, g, session.Feeds{x: vectorOf(1, 4), y: vectorOf(3, 4)}, []tf.Fetchable{b})
}

// TestJointsWait: what joins parts waits for nodes as before. It is not joined within a
// cluster that those depend on.
func TestJointsWait(t *testing.T) {
	for _, behind := range []bool{false, true} {
		g := tf.NewGraph()
		x, w := ops.Placeholder(g, tf.Float32, tf.Shape{4, 6}), ops.Placeholder(g, tf.Float32, tf.Shape{6, 6})
		a := ops.Exp(ops.Neg(x))
		b := ops.Square(ops.AddV2(a, x))
		read := x
		if behind {
			read = b
		}
		m := ops.MatMul(read, w)
		var joined tf.Output
		g.ControlDependencies([]*tf.Operation{m.Operation()}, func() { joined = ops.Concat(1, []tf.Output{a, b}) })
		feeds := session.Feeds{x: vectorOf(4, 6), w: vectorOf(6, 6)}
		if text := explain(t, g, feeds, joined, m); strings.Contains(text, " = ConcatV2") == behind {
			t.Errorf("behind the cluster %v:\n%s", behind, text)
		}
		compare(t, g, feeds, []tf.Fetchable{joined, m})
	}
}

// lstm returns what a cell computes of the gates z, and of its memory.
func lstm(z, c tf.Output) (h, next tf.Output) {
	p := ops.Split(z, 4, 1)
	next = ops.AddV2(ops.Mul(ops.Sigmoid(p[2]), c), ops.Mul(ops.Sigmoid(p[0]), ops.Tanh(p[1])))
	return ops.Mul(ops.Sigmoid(p[3]), ops.Tanh(next)), next
}

// TestACellIsOneCluster: the gates of a cell are cut within its cluster, and the gradients
// of the gates are joined within that of the backward pass.
func TestACellIsOneCluster(t *testing.T) {
	g := tf.NewGraph()
	z, c := ops.Placeholder(g, tf.Float32, tf.Shape{32, 512}), ops.Placeholder(g, tf.Float32, tf.Shape{32, 128})
	h, next := lstm(z, c)
	dz := must(tf.Gradients(ops.Sum(ops.Mul(h, next), []int{0, 1}), z))[0]
	feeds := session.Feeds{z: vectorOf(32, 512), c: vectorOf(32, 128)}
	text := explain(t, g, feeds, h, next)
	if !strings.Contains(text, " = Split") {
		t.Errorf("the gates are not cut within the cluster:\n%s", text)
	}
	if text = explain(t, g, feeds, dz.Operation().Output(0)); !strings.Contains(text, " = ConcatV2") {
		t.Errorf("the gradients of the gates are not joined within a cluster:\n%s", text)
	}
	compare(t, g, feeds, []tf.Fetchable{h, next, dz})
}

// TestStridedWindows: what takes every element between two places is cut within the
// cluster, and nothing else is.
func TestStridedWindows(t *testing.T) {
	for _, c := range []struct {
		begin, end, strides []int
		opts                ops.StridedSliceOpts
		cut                 bool
	}{
		{[]int{0, 2}, []int{4, 5}, []int{1, 1}, ops.StridedSliceOpts{}, true},
		{[]int{0, 2}, []int{9, 99}, []int{1, 1}, ops.StridedSliceOpts{}, true},
		{[]int{0, 0}, []int{4, 3}, []int{1, 1}, ops.StridedSliceOpts{}, true},
		{[]int{0, 5}, []int{4, 2}, []int{1, 1}, ops.StridedSliceOpts{}, false},
		{[]int{0, 2}, []int{4, 5}, []int{1, 2}, ops.StridedSliceOpts{}, false},
		{[]int{1, 2}, []int{4, 5}, []int{1, 1}, ops.StridedSliceOpts{}, false},
		{[]int{0, -4}, []int{4, 5}, []int{1, 1}, ops.StridedSliceOpts{}, false},
		{[]int{0, 2}, []int{4, -1}, []int{1, 1}, ops.StridedSliceOpts{}, false},
		{[]int{0, 2}, []int{4, 5}, []int{1, 1}, ops.StridedSliceOpts{BeginMask: 2}, false},
		{[]int{0, 2}, []int{4, 5}, []int{1, 1}, ops.StridedSliceOpts{EndMask: 2}, false},
		{[]int{0, 2}, []int{4, 3}, []int{1, 1}, ops.StridedSliceOpts{ShrinkAxisMask: 2}, false},
		{[]int{0, 2}, []int{4, 5}, []int{1, 1}, ops.StridedSliceOpts{NewAxisMask: 1}, false},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{4, 6})
		y := ops.StridedSlice(ops.Reshape(x, []int{4, 6}), c.begin, c.end, c.strides, c.opts)
		z := ops.Exp(ops.Neg(ops.Square(y)))
		feeds := session.Feeds{x: vectorOf(4, 6)}
		if text := explain(t, g, feeds, z); strings.Contains(text, " = StridedSlice") != c.cut {
			t.Errorf("%+v:\n%s", c, text)
		}
		compare(t, g, feeds, []tf.Fetchable{z})
	}
}

// TestALoopOfCellsHasTheSameBits: so in loops, and in their gradients.
func TestALoopOfCellsHasTheSameBits(t *testing.T) {
	g := tf.NewGraph()
	z, w := ops.Placeholder(g, tf.Float32, tf.Shape{5, 12}), ops.Placeholder(g, tf.Float32, tf.Shape{3, 12})
	zero := ops.Fill([]int{5, 3}, ops.Scalar(g, float32(0)))
	end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), zero, zero}, func(v []tf.Output) tf.Output { return v[0].Less(7) }, func(v []tf.Output) []tf.Output {
		h, c := lstm(ops.AddV2(z, ops.MatMul(v[1], w)), v[2])
		return []tf.Output{v[0].Add(1), h, c}
	})
	d := must(tf.Gradients(ops.Sum(ops.Square(end[1]), []int{0, 1}), z, w))
	compare(t, g, session.Feeds{z: vectorOf(5, 12), w: vectorOf(3, 12)}, []tf.Fetchable{end[1], end[2], d[0], d[1]})
}
