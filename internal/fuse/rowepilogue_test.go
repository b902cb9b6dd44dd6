package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// newRowEpilogue draws a program around products of stacks of matrices, whose rows are reduced.
func newRowEpilogue(seed uint64) *rowProgram {
	p := beginRows(seed, 12)
	p.plain = true
	for range 1 + p.IntN(3) {
		p.floats = append(p.floats, p.stack())
		for range 1 + p.IntN(8) {
			p.addRow()
		}
	}
	return p
}

// stack returns products of the full shape, of operands that may have to be broadcast.
func (p *rowProgram) stack() tf.Output {
	m, n, k := p.full[len(p.full)-2], p.full[len(p.full)-1], p.IntN(20)
	o := ops.BatchMatMulOpts{AdjX: p.IntN(2) == 0, AdjY: p.IntN(2) == 0}
	return ops.BatchMatMulV2(p.matrices(m, k, o.AdjX), p.matrices(k, n, o.AdjY), o)
}

// matrices returns m by n matrices, transposed if so asked, for all that come before the last two
// dimensions or for some of these.
func (p *rowProgram) matrices(m, n int, transposed bool) tf.Output {
	s := p.full.Clone()
	batch := s[:len(s)-2]
	for i := range batch {
		if p.IntN(6) == 0 {
			batch[i] = 1
		}
	}
	if transposed {
		m, n = n, m
	}
	s[len(s)-2], s[len(s)-1] = m, n
	return p.given(s)
}

// foldsProduct matches a cluster of a product and a reduction.
var foldsProduct = regexp.MustCompile(`= BatchMatMulV2(\\n\\t\S+ = \w+)*\\n\\t\S+ = (Sum|Mean|Max|Min|Prod|Any|Softmax|LogSoftmax)\\n`)

// TestRowEpilogues: reductions within products of stacks give the bits of one node after
// another, and so do those of their gradients.
func TestRowEpilogues(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	joined := 0
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newRowEpilogue(seed)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			fetches, last := p.wanted(), p.floats[len(p.floats)-1]
			for x := range p.feeds {
				dx, err := tf.Gradients(last, x)
				if seed%4 == 0 && err == nil && dx[0].Graph() != nil {
					fetches = append(fetches, dx[0])
				}
			}
			compare(t, p.g, p.feeds, fetches)
			if text := explain(t, p.g, p.feeds, last); foldsProduct.MatchString(text) {
				joined++
			}
		})
	}
	if joined < seeds/10 {
		t.Errorf("%d of %d programs reduce rows of products: the test is about nothing", joined, seeds)
	}
}

// TestAttention: scores, mask and softmax are computed within the products before them, forward
// and backward.
func TestAttention(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	r, g := rand.New(rand.NewPCG(1, 2)), tf.NewGraph()
	feeds := session.Feeds{}
	fed := func(s tf.Shape) tf.Output {
		x := ops.Placeholder(g, tf.Float32, s)
		feeds[x] = normal(r, tf.Float32, s)
		return x
	}
	q, k, v, mask := fed(tf.Shape{2, 3, 17, 8}), fed(tf.Shape{2, 3, 17, 8}), fed(tf.Shape{2, 3, 17, 8}), fed(tf.Shape{2, 1, 1, 17})
	scores := ops.Mul(ops.BatchMatMulV2(q, k, ops.BatchMatMulOpts{AdjY: true}), ops.Scalar[float32](g, 0.3))
	y := ops.BatchMatMulV2(ops.Softmax(ops.AddV2(scores, mask)), v)
	d := must(tf.Gradients(y, q, k, v))
	compare(t, g, feeds, []tf.Fetchable{y, d[0], d[1], d[2]})
	text := explain(t, g, feeds, y, d[0], d[1], d[2])
	for _, want := range []string{
		`\n\tBatchMatMulV2 = BatchMatMulV2\n\tMul = Mul\n\tAddV2 = AddV2\n\tSoftmax = Softmax\n`,
		`\n\tgradients/BatchMatMulV2_1_grad/BatchMatMulV2 = BatchMatMulV2\n\tgradients/Softmax_grad/Mul = Mul\n\tgradients/Softmax_grad/Sum = Sum\n`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
