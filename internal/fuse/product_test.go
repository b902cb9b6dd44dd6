package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// normal returns numbers that have to be rounded when they are added.
func normal(r *rand.Rand, d tf.DType, s tf.Shape) *tf.Tensor {
	t := core.NewTensor(d, s)
	for i := range t.Len() {
		if d == tf.Float32 {
			core.Data[float32](t)[i] = float32(r.NormFloat64())
		} else {
			core.Data[float64](t)[i] = r.NormFloat64()
		}
	}
	return (*tf.Tensor)(t)
}

// TestProducts: a product with what is added to it has the bits of the two operations,
// for sums over few and many elements, and for all that may be added.
func TestProducts(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 3))
		size := func() int { return []int{1, 2, 3, 16, 31, 33, 64, 130}[r.IntN(8)] }
		m, n, k, ta, tb := size(), size(), []int{1, 7, 32, 128, 255, 257, 700, 1025, 2100}[r.IntN(9)], r.IntN(2) == 0, r.IntN(2) == 0
		d := []tf.DType{tf.Float32, tf.Float64}[r.IntN(2)]
		a, b := tf.Shape{m, k}, tf.Shape{k, n}
		if ta {
			a = tf.Shape{k, m}
		}
		if tb {
			b = tf.Shape{n, k}
		}
		added := []tf.Shape{{m, n}, {n}, {1, n}, {m, 1}, {1}, {}, {m, n}}[r.IntN(7)]
		g := tf.NewGraph()
		static := r.IntN(2) == 0
		feeds := session.Feeds{}
		feed := func(s tf.Shape) tf.Output {
			var known tf.Shape
			if static {
				known = s
			}
			x := ops.Placeholder(g, d, known)
			feeds[x] = normal(r, d, s)
			return ops.Identity(x)
		}
		x, y, z := feed(a), feed(b), feed(added)
		if r.IntN(3) == 0 {
			z = ops.Transpose(ops.Transpose(z, perm(len(added))), perm(len(added))) // memory of its own
		}
		product := ops.MatMul(x, y, ops.MatMulOpts{TransposeA: ta, TransposeB: tb})
		var sum tf.Output
		switch kind := r.IntN(3); {
		case kind == 0 && len(added) == 1 && added[0] == n:
			sum = ops.BiasAdd(product, z)
		case kind == 1:
			sum = ops.AddV2(z, product)
		default:
			sum = ops.AddV2(product, z)
		}
		fetches := []tf.Fetchable{ops.Identity(sum)}
		if r.IntN(3) == 0 {
			fetches = append(fetches, ops.Identity(z))
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, g, feeds, fetches) })
	}
}

func perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = n - 1 - i
	}
	return p
}

// TestSumsOfProducts: the gradients of weights of a loop are added up where they are
// computed, to the same bits, and what a branch or a second reader needs stays.
func TestSumsOfProducts(t *testing.T) {
	g := tf.NewGraph()
	r := rand.New(rand.NewPCG(1, 2))
	x, w, b := ops.Placeholder(g, tf.Float32, tf.Shape{5, 24}), ops.Placeholder(g, tf.Float32, tf.Shape{24, 24}), ops.Placeholder(g, tf.Float32, tf.Shape{24})
	u := ops.Transpose(w, []int{1, 0})
	end := tf.While([]tf.Output{ops.Scalar[int32](g, 0), x}, func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar[int32](g, 9)) }, func(v []tf.Output) []tf.Output {
		z := ops.AddV2(x, ops.MatMul(v[1], w))
		return []tf.Output{ops.AddV2(v[0], ops.Scalar[int32](g, 1)), ops.Tanh(ops.AddV2(ops.BiasAdd(ops.MatMul(z, u), b), v[1]))}
	})
	twice := ops.MatMul(x, w)
	sum := ops.AddV2(twice, x)
	grads := must(tf.Gradients(ops.Sum(end[1], []int{0, 1}), x, w, b))
	feeds := session.Feeds{x: normal(r, tf.Float32, tf.Shape{5, 24}), w: normal(r, tf.Float32, tf.Shape{24, 24}), b: normal(r, tf.Float32, tf.Shape{24})}
	compare(t, g, feeds, []tf.Fetchable{end[1], grads[0], grads[1], grads[2], sum, twice})
	text := explain(t, g, feeds, end[1], grads[1])
	if n := strings.Count(text, "= MatMul"); n != 3 { // z, and the sums of the gradients of w and u
		t.Errorf("%d products are joined:\n%s", n, text)
	}
}

// TestErrorsOfProducts: shapes that do not fit are told as without fusion.
func TestErrorsOfProducts(t *testing.T) {
	g := tf.NewGraph()
	x, y, z := ops.Placeholder(g, tf.Float32, nil), ops.Placeholder(g, tf.Float32, nil), ops.Placeholder(g, tf.Float32, nil)
	sum, biased := ops.AddV2(ops.MatMul(x, y), z), ops.BiasAdd(ops.MatMul(x, y), z)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]tf.Shape{{{2, 3}, {4, 5}, {2, 5}}, {{2, 3}, {3, 5}, {3, 5}}, {{2, 3}, {3, 5}, {4}}, {{2}, {3, 5}, {5}}, {{0, 3}, {3, 5}, {5}}, {{2, 0}, {0, 5}, {2, 5}}, {{2, 3}, {3, 5}, {7, 1, 5}}} {
		feeds := session.Feeds{x: normal(r, tf.Float32, s[0]), y: normal(r, tf.Float32, s[1]), z: normal(r, tf.Float32, s[2])}
		compare(t, g, feeds, []tf.Fetchable{sum})
		compare(t, g, feeds, []tf.Fetchable{biased})
	}
}

// unrolled adds a recurrent network that is unrolled, and returns its loss.
func unrolled(x, w, b tf.Output, steps int) tf.Output {
	h, g := x, x.Graph()
	for range steps {
		h = ops.Tanh(ops.BiasAdd(ops.MatMul(ops.ConcatV2([]tf.Output{x, h}, ops.Scalar[int32](g, 1)), w), b))
	}
	return ops.Sum(ops.Square(h), []int{0, 1})
}

// TestSumsOfManyProducts: the gradients of a variable that is used again and again are added
// where they are computed, to the bits of one sum of all, if a sum over k is not cut and
// they are computed in their order.
func TestSumsOfManyProducts(t *testing.T) {
	for _, c := range []struct {
		batch, steps, joined int
		known                bool
	}{{9, 6, 4, true}, {9, 6, 0, false}, {9, 2, 0, true}, {3000, 4, 0, true}} {
		g, r := tf.NewGraph(), rand.New(rand.NewPCG(4, 2))
		shape := tf.Shape{c.batch, 24}
		if !c.known {
			shape = tf.Shape{-1, 24}
		}
		x, w, b := ops.Placeholder(g, tf.Float32, shape), ops.Placeholder(g, tf.Float32, tf.Shape{48, 24}), ops.Placeholder(g, tf.Float32, tf.Shape{24})
		grads := must(tf.Gradients(unrolled(x, w, b, c.steps), w, b))
		feeds := session.Feeds{x: normal(r, tf.Float32, tf.Shape{c.batch, 24}), w: normal(r, tf.Float32, tf.Shape{48, 24}), b: normal(r, tf.Float32, tf.Shape{24})}
		text := explain(t, g, feeds, grads[0])
		// The loops in Go cut no sum, however long it is.
		uncut := c.steps > 2 && c.known && gemm.AddsSums[float32](gemm.NewGemm(48, 24, c.batch, true, false))
		if n := strings.Count(text, "/sum"); n < c.joined || c.joined == 0 && n > 0 && !uncut {
			t.Errorf("%+v: %d sums:\n%s", c, n, text)
		}
		compare(t, g, feeds, []tf.Fetchable{grads[0], grads[1]})
	}
}

// TestSumsOfProductsAtRandom: sums of products in any order, some of which others read, too,
// have the bits of AddN.
func TestSumsOfProductsAtRandom(t *testing.T) {
	for seed := range uint64(60) {
		g, r := tf.NewGraph(), rand.New(rand.NewPCG(seed, 8))
		d, m, k, n := []tf.DType{tf.Float32, tf.Float64}[r.IntN(2)], 1+r.IntN(40), 1+r.IntN(60), 1+r.IntN(40)
		feeds, last := session.Feeds{}, tf.Output{}
		feed := func(s ...int) tf.Output {
			x := ops.Placeholder(g, d, s)
			feeds[x] = normal(r, d, s)
			return x
		}
		var products []tf.Output
		var fetches []tf.Fetchable
		for i := range 2 + r.IntN(8) {
			x := feed(m, k)
			if i > 0 && r.IntN(2) == 0 {
				x = ops.Add(x, ops.Sum(last, []int{0, 1})) // computed after the one before
			}
			last = ops.MatMul(x, feed(n, k), ops.MatMulOpts{TransposeB: true})
			products = append(products, last)
			if r.IntN(9) == 0 {
				fetches = append(fetches, ops.Identity(last))
			}
		}
		if r.IntN(2) == 0 {
			r.Shuffle(len(products), func(i, j int) { products[i], products[j] = products[j], products[i] })
		}
		compare(t, g, feeds, append(fetches, ops.Identity(ops.AddN(products))))
	}
}
