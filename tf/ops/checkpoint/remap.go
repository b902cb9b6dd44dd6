package checkpoint

import (
	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "LoadAndRemapMatrix", In: "ckpt_path: string; old_tensor_name: string; row_remapping: int64; col_remapping: int64; initializing_values: float",
		Out: "output_matrix: float", Attrs: "num_rows: int >= 0; num_cols: int >= 1; max_rows_in_memory: int = -1",
		Stateful: true, Expensive: true, Shape: remapShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(loadAndRemap),
	})
}

// MaxRowsInMemory is the optional attribute of LoadAndRemapMatrix: how many rows
// of the old matrix are read at once. All are, if it is not given.
type MaxRowsInMemory int

// Apply sets the attribute.
func (n MaxRowsInMemory) Apply(s *tf.Spec) { s.Set("max_rows_in_memory", int(n)) }

// LoadAndRemapMatrix returns a matrix of the given size whose rows and columns
// are those of a float32 matrix in a checkpoint that the mappings, vectors of
// int64, name by their numbers there. What is mapped to -1 is filled with the
// initial values, in order, all of which must be used. An empty mapping of
// columns leaves them as they are. Prefix and name are scalars and the
// mappings vectors; other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step. So are, in the step,
// mappings of other lengths than numRows and numCols, a tensor that is no
// float32 matrix, and too few or too many initial values. A number that a
// mapping has twice is refused with UNIMPLEMENTED.
// Its options are [MaxRowsInMemory].
func LoadAndRemapMatrix(prefix, name, rows, cols, initial tf.Output, numRows, numCols int, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "LoadAndRemapMatrix", []tf.Output{prefix, name, rows, cols, initial},
		tf.Join(opts, tf.Attr("num_rows", numRows), tf.Attr("num_cols", numCols))...).Output(0)
}

func remapShape(c *core.Infer) error {
	for i := range 4 {
		if _, err := c.Rank(i, i/2); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{c.Int("num_rows"), c.Int("num_cols")})
	return nil
}

// A remapping says by its new number where a row or a column was, and by its old
// one where it is.
type remapping struct {
	old []int64
	now map[int64]int
}

// remappingOf reads a vector of old numbers.
func remappingOf(old []int64) (remapping, error) {
	r := remapping{old, map[int64]int{}}
	for i, id := range old {
		if id < 0 {
			continue
		}
		if first, ok := r.now[id]; ok {
			return r, tf.Errorf(tf.Unimplemented, "Old ID %d is mapped to both new ID %d and %d, which is not supported.", id, first, i)
		}
		r.now[id] = i
	}
	return r, nil
}

// span returns the first old number that is needed and the one behind the last.
func (r remapping) span() (lo, hi int64) {
	lo = -1
	for id := range r.now {
		if lo < 0 || id < lo {
			lo = id
		}
		hi = max(hi, id+1)
	}
	return max(lo, 0), hi
}

// identity leaves n numbers as they are.
func identity(n int) []int64 {
	ids := core.Make[int64](n)
	for i := range ids {
		ids[i] = int64(i)
	}
	return ids
}

func loadAndRemap(n *core.Node) (core.Kernel, error) {
	numRows, numCols, chunk := n.Int("num_rows"), n.Int("num_cols"), int64(n.Int("max_rows_in_memory"))
	return core.Compute(func(c *core.OpContext) error {
		if s := c.Input(2).Shape(); len(s) != 1 {
			return tf.Errorf(tf.InvalidArgument, "The `row_remapping` tensor must be 1-D, got a tensor of shape %s", s.String())
		}
		rowIDs, colIDs := core.Data[int64](c.Input(2)), core.Data[int64](c.Input(3))
		switch {
		case len(rowIDs) != numRows:
			return tf.Errorf(tf.InvalidArgument, "Size of row_remapping is %d instead of being equal to num_rows=%d", len(rowIDs), numRows)
		case len(colIDs) != 0 && len(colIDs) != numCols:
			return tf.Errorf(tf.InvalidArgument, "Provided col_remapping, but its size is %d instead of being equal to num_cols=%d", len(colIDs), numCols)
		case c.Input(0).Len() != 1 || c.Input(1).Len() != 1:
			return tf.Errorf(tf.InvalidArgument, "The `ckpt_path` tensor must have exactly one element, got tensor of shape %s", c.Input(0).Shape().String())
		}
		out, err := c.Alloc(0, tf.Float32, tf.Shape{numRows, numCols})
		if err != nil {
			return err
		}
		clear(core.Data[float32](out)) // elements of columns that the old matrix does not have are not set
		if len(colIDs) == 0 {
			colIDs = identity(numCols)
		}
		rows, err := remappingOf(rowIDs)
		if err != nil {
			return err
		}
		cols, err := remappingOf(colIDs)
		if err != nil {
			return err
		}
		m := matrix{core.Data[float32](out), numCols, rows, cols}
		if err := m.load(core.Data[string](c.Input(0))[0], core.Data[string](c.Input(1))[0], c.Input(3).Len() == 0, chunk); err != nil {
			return err
		}
		return m.fill(core.Data[float32](c.Input(4)))
	}), nil
}

// A matrix is made of parts of another one.
type matrix struct {
	data       []float32
	width      int
	rows, cols remapping
}

// load copies what there is in the checkpoint, some rows at a time. With whole,
// columns are as they were.
func (m *matrix) load(prefix, name string, whole bool, chunk int64) error {
	r, err := bundle.Open(prefix)
	if err != nil {
		return err
	}
	defer r.Close()
	e, err := r.Entry(name)
	if err != nil {
		return err
	}
	switch s := e.Shape; {
	case e.DType != tf.Float32:
		return tf.Errorf(tf.InvalidArgument, "Tensor %s has invalid type %s instead of expected type float", name, e.DType.CName())
	case len(s) != 2:
		return tf.Errorf(tf.InvalidArgument, "Tensor %s has shape %s of invalid rank %d instead of expected shape of rank 2.", name, s.String(), len(s))
	case whole && s[1] != m.width:
		return tf.Errorf(tf.InvalidArgument, "Tensor %s has shape %s, where the size of its 2nd dimension is %d instead of being equal to num_cols=%d", name, s.String(), s[1], m.width)
	}
	lo, hi := m.rows.span()
	if most := max(hi-lo, 1); chunk <= 0 || chunk > most {
		chunk = most
	}
	for ; lo < hi; lo += chunk {
		part, err := r.LookupSlice(name, bundle.Slice{{Start: lo, Length: min(chunk, hi-lo)}, {Length: -1}})
		if err != nil {
			return err
		}
		m.copyRows(part, lo)
	}
	return nil
}

// copyRows copies what is needed of rows whose first one was row lo.
func (m *matrix) copyRows(part *core.Tensor, lo int64) {
	width := part.Dim(1)
	for i := range part.Dim(0) {
		row, ok := m.rows.now[lo+int64(i)]
		if !ok {
			continue
		}
		to, from := m.data[row*m.width:(row+1)*m.width], core.Data[float32](part)[i*width:(i+1)*width]
		for k, id := range m.cols.old {
			if id >= 0 && id < int64(width) {
				to[k] = from[id]
			}
		}
	}
}

// fill gives the cells that are new their values.
func (m *matrix) fill(values []float32) error {
	used := 0
	for i, row := range m.rows.old {
		for k, col := range m.cols.old {
			if row >= 0 && col >= 0 {
				continue
			}
			if used == len(values) {
				return tf.Errorf(tf.InvalidArgument, "initializing_values contained %d elements, but more missing values remain.", len(values))
			}
			m.data[i*m.width+k] = values[used]
			used++
		}
	}
	if used < len(values) {
		return tf.Errorf(tf.InvalidArgument, "initializing_values contained %d elements, but only %d elements were used to fill in missing values.", len(values), used)
	}
	return nil
}
