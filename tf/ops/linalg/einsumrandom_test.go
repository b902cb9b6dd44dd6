package linalg_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// A randomEinsum is an equation and operands of small integers, whose sums are exact.
type randomEinsum struct {
	sizes map[byte]int
	in    []string
	out   string
	x     [][]float32
}

func drawEinsum(rng *rand.Rand) *randomEinsum {
	const labels = "abcdef"
	e := &randomEinsum{sizes: map[byte]int{}}
	for i := range len(labels) {
		if e.sizes[labels[i]] = 1 + rng.IntN(4); rng.IntN(20) == 0 {
			e.sizes[labels[i]] = 0
		}
	}
	for range 1 + min(1, rng.IntN(4)) {
		term, n := "", 1
		for range rng.IntN(6) {
			l := labels[rng.IntN(len(labels))]
			if strings.IndexByte(term, l) >= 0 && rng.IntN(4) > 0 {
				continue // a diagonal seldom
			}
			term, n = term+string(l), n*e.sizes[l]
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.IntN(7) - 3)
		}
		e.in, e.x = append(e.in, term), append(e.x, x)
	}
	all := []byte(strings.Join(e.in, ""))
	slices.Sort(all)
	all = slices.Compact(all)
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	e.out = string(all[:rng.IntN(len(all)+1)])
	if e.out != "" && rng.IntN(8) == 0 {
		e.out += e.out[:1]
	}
	return e
}

func (e *randomEinsum) shape(term string) tf.Shape {
	s := tf.Shape{}
	for i := range len(term) {
		s = append(s, e.sizes[term[i]])
	}
	return s
}

// at is where an element of a tensor is, given the values of labels.
func (e *randomEinsum) at(term string, values map[byte]int) (at int) {
	for i := range len(term) {
		at = at*e.sizes[term[i]] + values[term[i]]
	}
	return at
}

// result goes through all values of all labels.
func (e *randomEinsum) result() []float32 {
	z := make([]float32, e.shape(e.out).NumElements())
	var used []byte
	for l := range e.sizes {
		if strings.IndexByte(strings.Join(e.in, ""), l) >= 0 {
			used = append(used, l)
		}
	}
	values := map[byte]int{}
	var walk func(i int)
	walk = func(i int) {
		if i == len(used) {
			product := float32(1)
			for k, term := range e.in {
				product *= e.x[k][e.at(term, values)]
			}
			z[e.at(e.out, values)] += product
			return
		}
		for v := range e.sizes[used[i]] {
			values[used[i]] = v
			walk(i + 1)
		}
	}
	walk(0)
	return z
}

// TestRandomEinsum compares with loops over all values of all labels: matrices that lie by rows, by columns or neither,
// diagonals, sums, labels of size 0 and 1, results in any order.
func TestRandomEinsum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		e := drawEinsum(rng)
		g := eager.New()
		var in []tf.Output
		for i, term := range e.in {
			in = append(in, ops.Reshape(ops.Const(g, e.x[i], len(e.x[i])), e.shape(term)))
		}
		equation := strings.Join(e.in, ",") + "->" + e.out
		v, err := linalg.Einsum(equation, in).Value()
		if err != nil {
			t.Fatalf("%s of sizes %v: %v", equation, e.sizes, err)
		}
		got, err := tf.Values[float32](v)
		if want := e.result(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s of sizes %v: got %v, %v, want %v", equation, e.sizes, got, err, want)
		}
	}
}
