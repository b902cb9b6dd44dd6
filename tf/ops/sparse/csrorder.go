package sparse

import (
	"container/heap"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseMatrixOrderingAMD", In: "input: variant", Out: "output: int32",
		Shape: csrOrderShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(computed(csrOrder)),
	})
}

// SparseMatrixOrderingAMD returns in which order the rows and columns of m, a
// symmetric matrix or a batch of them, should be taken for its Cholesky
// factor to be sparse: a permutation for each matrix. TensorFlow's minimum
// degrees are approximate (Amestoy, Davis and Duff, 1996), these are not: its
// permutations are others. The result is int32 [n], or [batch n]. Only the
// lower triangle is looked at. A matrix that is not square fails with
// INVALID_ARGUMENT in the step, as does what holds no matrix.
func SparseMatrixOrderingAMD(m tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixOrderingAMD", opts, m)
}

func csrOrderShape(c *core.Infer) error {
	if _, s := c.Handle(0); len(s) >= 2 {
		c.Set(0, s[:len(s)-1].Clone())
	}
	return nil
}

func csrOrder(c *core.OpContext) error {
	m, err := inputCSR(c, 0)
	if err != nil {
		return err
	}
	n := m.numRows()
	if n != m.numCols() {
		return invalid("sparse matrix must be square; got: %d != %d", n, m.numCols())
	}
	out, err := c.Alloc(0, tf.Int32, m.shape[:len(m.shape)-1])
	if err != nil {
		return err
	}
	for i := range m.size() {
		copy(core.Data[int32](out)[i*n:], minimumDegrees(m.rows[i*(n+1):(i+1)*(n+1)], m.cols[m.batch[i]:m.batch[i+1]]))
	}
	return nil
}

// An eliminationGraph has an edge between what shares a row of the factor.
type eliminationGraph struct {
	near  []map[int32]bool
	queue degreeQueue
}

// minimumDegrees orders the vertices of the graph whose edges are the elements
// of the lower triangle: each time that with the fewest neighbours is taken
// out, which makes its neighbours those of each other.
func minimumDegrees(rows, cols []int32) []int32 {
	n := len(rows) - 1
	g := &eliminationGraph{near: core.Make[map[int32]bool](n)}
	for i := range g.near {
		g.near[i] = map[int32]bool{}
	}
	for i := range n {
		for _, k := range cols[rows[i]:rows[i+1]] {
			if int(k) < i {
				g.near[i][k], g.near[k][int32(i)] = true, true
			}
		}
	}
	for i := range n {
		g.queue = append(g.queue, degree{len(g.near[i]), int32(i)})
	}
	heap.Init(&g.queue)
	order := core.Make[int32](n)[:0]
	for len(order) < n {
		v, ok := g.next()
		if !ok || len(g.near[v]) == n-len(order)-1 { // all that is left is joined: any order is as good
			return append(order, g.rest()...)
		}
		order = append(order, v)
		g.eliminate(v)
	}
	return order
}

// next returns the vertex with the fewest neighbours, the first of them.
func (g *eliminationGraph) next() (int32, bool) {
	for len(g.queue) > 0 {
		d := heap.Pop(&g.queue).(degree)
		if near := g.near[d.vertex]; near != nil && len(near) == d.near {
			return d.vertex, true
		}
	}
	return 0, false
}

func (g *eliminationGraph) eliminate(v int32) {
	near := slices.Collect(maps.Keys(g.near[v]))
	g.near[v] = nil
	for _, a := range near {
		delete(g.near[a], v)
		for _, b := range near {
			if a != b {
				g.near[a][b] = true
			}
		}
		heap.Push(&g.queue, degree{len(g.near[a]), a})
	}
}

// rest returns the vertices that are left.
func (g *eliminationGraph) rest() (left []int32) {
	for i, near := range g.near {
		if near != nil {
			left = append(left, int32(i))
		}
	}
	return left
}

// A degree says how many neighbours a vertex had when it was noted.
type degree struct {
	near   int
	vertex int32
}

type degreeQueue []degree

func (q degreeQueue) Len() int { return len(q) }
func (q degreeQueue) Less(i, k int) bool {
	return q[i].near < q[k].near || q[i].near == q[k].near && q[i].vertex < q[k].vertex
}
func (q degreeQueue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }
func (q *degreeQueue) Push(v any)   { *q = append(*q, v.(degree)) }
func (q *degreeQueue) Pop() any {
	old := *q
	v := old[len(old)-1]
	*q = old[:len(old)-1]
	return v
}
