package sparse

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const shared = "; container: string = ''; shared_name: string = ''"
	const parts = "sparse_indices: int64; sparse_values: T; sparse_shape: int64"
	core.Register(core.OpDef{
		Name: "AddSparseToTensorsMap", In: parts, Out: "sparse_handle: int64", Attrs: "T: type" + shared, Stateful: true,
		Shape: sparseTo(tf.Shape{}), NoGrad: core.NoGradientDefined, Kernels: core.AnyType(addToMap(addOne)),
	})
	core.Register(core.OpDef{
		Name: "AddManySparseToTensorsMap", In: parts, Out: "sparse_handles: int64", Attrs: "T: type" + shared, Stateful: true,
		Shape: sparseTo(tf.Shape{-1}), NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(addToMap(addMany), anything...)),
	})
	core.Register(core.OpDef{
		Name: "TakeManySparseFromTensorsMap", In: "sparse_handles: int64", Out: "sparse_indices: int64; sparse_values: dtype; sparse_shape: int64",
		Attrs: "dtype: type" + shared, Stateful: true, Shape: takeShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("dtype", sameFor(takeMany, anything...)),
	})
}

// MapOpts are the optional attributes of the ops on maps of sparse tensors:
// ops of equal container and shared name, on one device, use one map. Without a
// name an op that adds uses one of its node's name.
type MapOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o MapOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// AddSparseToTensorsMap puts a sparse tensor into a map and returns the
// number it has there, an int64 scalar. t has any type. Parts that do not fit
// together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. A negative size fails with
// INVALID_ARGUMENT in the step. Its options are [MapOpts].
func AddSparseToTensorsMap(t Tensor, opts ...tf.Option) tf.Output {
	return apply("AddSparseToTensorsMap", opts, flat(t)...)
}

// AddManySparseToTensorsMap puts the parts of a sparse tensor that have the
// same first index into a map, as tensors of a rank less, and returns their
// numbers, one for each. t has any type and rank 2 or more; the result is
// int64 [n], where n is the first size of t. Parts that do not fit together
// are refused with INVALID_ARGUMENT, when the graph is built if their shapes
// are known, else in the step. A lower rank, and indices out of order or
// bounds, fail with INVALID_ARGUMENT in the step. Its options are [MapOpts].
func AddManySparseToTensorsMap(t Tensor, opts ...tf.Option) tf.Output {
	return apply("AddManySparseToTensorsMap", opts, flat(t)...)
}

// TakeManySparseFromTensorsMap takes sparse tensors of type d out of a map,
// those of the given numbers, and returns them as the parts of one whose
// first index counts them. It is as large as the largest of them. handles is
// an int64 vector; another rank is refused with INVALID_ARGUMENT when the
// graph is built. An empty vector, numbers that are not in the map, another
// type than d, and different ranks fail with INVALID_ARGUMENT in the step.
// Its options are [MapOpts].
func TakeManySparseFromTensorsMap(handles tf.Output, d tf.DType, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "TakeManySparseFromTensorsMap", []tf.Output{handles}, tf.Join(opts, tf.Attr("dtype", d))...))
}

// sparseTo is the shape function of an op that makes a tensor of shape s of a
// sparse one.
func sparseTo(s tf.Shape) func(*core.Infer) error {
	return func(c *core.Infer) error {
		for i, rank := range []int{2, 1, 1} {
			if _, err := c.Rank(i, rank); err != nil {
				return err
			}
		}
		c.Set(0, s)
		return nil
	}
}

func takeShape(c *core.Infer) error {
	setSparse(c, 0, -1)
	_, err := c.Rank(0, 1)
	return err
}

// A tensorsMap holds sparse tensors by number until they are taken.
type tensorsMap struct {
	name string
	mu   sync.Mutex
	next int64
	kept map[int64]*coo
}

var _ = resource.Declare[*tensorsMap]("tensorflow::SparseTensorsMap")

func newMap(name string) *tensorsMap { return &tensorsMap{name: name, kept: map[int64]*coo{}} }

// add keeps t, whose memory is its own.
func (m *tensorsMap) add(t *coo) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	m.kept[m.next-1] = t
	return m.next - 1
}

// take removes tensors, up to the first that is not there.
func (m *tensorsMap) take(handles []int64) ([]*coo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := core.Make[*coo](len(handles))
	for i, h := range handles {
		t := m.kept[h]
		if t == nil {
			return nil, invalid("Unable to find SparseTensor: %d in map: %s", h, m.name)
		}
		out[i] = t
		delete(m.kept, h)
	}
	return out, nil
}

// sharedMap returns the map that a node uses; one without a name serves its
// node alone.
func sharedMap(n *core.Node, name string) func(*core.OpContext) (*tensorsMap, error) {
	container := n.Str("container")
	if name == "" {
		own := newMap(n.Name)
		return func(*core.OpContext) (*tensorsMap, error) { return own, nil }
	}
	return func(c *core.OpContext) (*tensorsMap, error) {
		if c.Step == nil || c.Resources == nil {
			return nil, tf.Errorf(tf.Internal, "a map of sparse tensors needs a resource manager")
		}
		return resource.LookupOrCreate(c.Resources, container, name, func() (*tensorsMap, error) { return newMap(name), nil })
	}
}

// addToMap makes the kernel of an op that adds to a map.
func addToMap(add func(*core.OpContext, *tensorsMap) error) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		find := sharedMap(n, cmp.Or(n.Str("shared_name"), n.Name))
		return core.Compute(func(c *core.OpContext) error {
			if err := checkParts(c.Input(0), c.Input(1), c.Input(2)); err != nil {
				return err
			}
			m, err := find(c)
			if err != nil {
				return err
			}
			return add(c, m)
		}), nil
	}
}

// checkParts checks the ranks of the parts of a sparse tensor.
func checkParts(at, vals, shape *core.Tensor) error {
	switch {
	case at.Rank() != 2:
		return invalid("Input indices should be a matrix but received shape %s", at.Shape().String())
	case vals.Rank() != 1:
		return invalid("Input values should be a vector but received shape %s", vals.Shape().String())
	case shape.Rank() != 1:
		return invalid("Input shape should be a vector but received shape %s", shape.Shape().String())
	}
	return nil
}

func addOne(c *core.OpContext, m *tensorsMap) error {
	for _, d := range core.Data[int64](c.Input(2)) {
		if d < 0 {
			return invalid("Dimension %d must be >= 0", d)
		}
	}
	t, err := inputCOO(c, 0)
	if err != nil {
		return err
	}
	t.at, t.values = slices.Clone(t.at), keep(t.values)
	out, err := c.Alloc(0, tf.Int64, tf.Shape{})
	if err == nil {
		core.Data[int64](out)[0] = m.add(t)
	}
	return err
}

// keep returns t for use after the step: its memory must not go back to a pool.
func keep(t *core.Tensor) *core.Tensor { return t.Share().Escape() }

func addMany(c *core.OpContext, m *tensorsMap) error {
	t, err := minibatch(c.Input(0), c.Input(1), c.Input(2))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tf.Int64, t.shape[:1])
	if err != nil {
		return err
	}
	handles := core.Data[int64](out)
	for i := range handles {
		handles[i] = -1
	}
	for lo, hi := range t.runs(1) {
		handles[t.index(lo)[0]] = m.add(t.part(lo, hi))
	}
	for i, h := range handles {
		if h < 0 {
			handles[i] = m.add(t.part(0, 0))
		}
	}
	return nil
}

// minibatch checks a sparse tensor whose first index counts tensors.
func minibatch(at, vals, shape *core.Tensor) (*coo, error) {
	switch rank := shape.Len(); {
	case vals.Len() != at.Dim(0):
		return nil, invalid("Number of values must match first dimension of indices. Got %d values, indices shape: %s", vals.Len(), at.Shape().String())
	case rank != at.Dim(1):
		return nil, invalid("Number of dimensions must match second dimension of indices. Got %d dimensions, indices shape: %s", rank, at.Shape().String())
	case rank <= 1:
		return nil, invalid("Rank of input SparseTensor should be > 1, but saw rank: %d", rank)
	}
	s, err := sizes(shape)
	if err != nil {
		return nil, err
	}
	t, err := newCOO(at, vals, s)
	if err != nil {
		return nil, err
	}
	return t, t.valid()
}

// runs yields the bounds of runs of values whose first n indices are equal.
func (t *coo) runs(n int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < t.n; {
			hi := t.runEnd(lo, n)
			if !yield(lo, hi) {
				return
			}
			lo = hi
		}
	}
}

// part returns values lo to hi as a tensor of its own, without the first
// dimension.
func (t *coo) part(lo, hi int) *coo {
	p := &coo{rank: t.rank - 1, n: hi - lo, shape: t.shape[1:], values: core.NewTensor(t.values.DType(), tf.Shape{hi - lo})}
	p.at = core.Make[int64](p.rank * p.n)[:0]
	for i := lo; i < hi; i++ {
		p.at = append(p.at, t.index(i)[1:]...)
	}
	rows.Mover(p.values, t.values)(0, lo, hi-lo)
	return p
}

func takeMany(n *core.Node) (core.Kernel, error) {
	find, d := sharedMap(n, n.Str("shared_name")), n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		m, err := find(c)
		if err != nil {
			return err
		}
		h := c.Input(0)
		if h.Rank() != 1 {
			return invalid("sparse_handles should be a vector but received shape %s", h.Shape().String())
		}
		if h.Len() == 0 {
			return invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
		}
		ts, err := m.take(core.Data[int64](h))
		if err != nil {
			return err
		}
		return writeNested(c, ts, tf.Shape{len(ts)}, d)
	}), nil
}

// stackSizes returns the shape that holds all tensors and the number of their
// values.
func stackSizes(ts []*coo, d tf.DType) (tf.Shape, int, error) {
	rank, n := ts[0].rank, 0
	shape := make(tf.Shape, rank+1)
	shape[0] = len(ts)
	for i, t := range ts {
		if t.values.DType() != d {
			return nil, 0, invalid("Requested SparseTensor of type %s but SparseTensor[%d].values.dtype() == %s", d.CName(), i, t.values.DType().CName())
		}
		if t.rank != rank {
			return nil, 0, invalid("Inconsistent rank across SparseTensors: rank prior to SparseTensor[%d] was: %d but rank of SparseTensor[%d] is: %d", i, rank+1, i, t.rank+1)
		}
		for k, size := range t.shape {
			shape[k+1] = max(shape[k+1], size)
		}
		n += t.n
	}
	return shape, n, nil
}
