package batch

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func keys(in map[string]*tf.Tensor) []string { return slices.Sorted(maps.Keys(in)) }

func itoa(n int) string { return strconv.Itoa(n) }

// rowsOf returns the size of dimension 0, which all tensors must have for the
// request to be joined with others.
func rowsOf(in map[string]*tf.Tensor) (n int, ok bool) {
	n = -1
	for _, t := range in {
		if t.Rank() == 0 || n >= 0 && t.Dim(0) != n {
			return 0, false
		}
		n = t.Dim(0)
	}
	return n, n > 0
}

// stride returns how many elements a row has.
func stride(s tf.Shape) int { return tf.Shape(s[1:]).NumElements() }

// cut returns n rows of a tensor, as a copy.
func cut(t *tf.Tensor, begin, n int) *tf.Tensor {
	shape := t.Shape().Clone()
	shape[0] = n
	out := core.NewTensor(t.DType(), shape)
	if k := stride(t.Shape()); n*k > 0 {
		rows.Mover(out, (*core.Tensor)(t))(0, begin*k, n*k)
	}
	return (*tf.Tensor)(out)
}

// rowsFrom returns n rows of all tensors.
func rowsFrom(in map[string]*tf.Tensor, begin, n int) map[string]*tf.Tensor {
	out := make(map[string]*tf.Tensor, len(in))
	for k, t := range in {
		out[k] = cut(t, begin, n)
	}
	return out
}

// A misfit is why tasks cannot be joined.
type misfit struct{ error }

// Unwrap is for core.Exhausted and tf.CodeOf.
func (m *misfit) Unwrap() error { return m.error }

// join joins the inputs of tasks to tensors of size rows. Rows that no task has are
// the first one of the last task: models have seen the like of it.
func join(tasks []*task, size int) (_ map[string]*tf.Tensor, err error) {
	out := map[string]*tf.Tensor{}
	for k := range tasks[0].request.parts[tasks[0].part].in {
		var parts []*tf.Tensor
		for _, t := range tasks {
			parts = append(parts, t.request.parts[t.part].in[k])
		}
		if out[k], err = stack(parts, size); err != nil {
			return nil, &misfit{err}
		}
	}
	return out, nil
}

// stack joins tensors on dimension 0. Tensors that are smaller in other dimensions
// than others get zeros at their ends.
func stack(parts []*tf.Tensor, size int) (*tf.Tensor, error) {
	shape := parts[0].Shape().Clone()
	padded := false
	for _, p := range parts {
		padded = padded || !slices.Equal(p.Shape()[1:], parts[0].Shape()[1:])
		for i, d := range p.Shape() {
			shape[i] = max(shape[i], d)
		}
	}
	shape[0] = size
	out, err := core.AllocTensor(parts[0].DType(), shape)
	if err != nil {
		return nil, err
	}
	k := stride(shape)
	if size*k == 0 {
		return (*tf.Tensor)(out), nil
	}
	if padded {
		rows.Clear(out)
	}
	at := 0
	for i, p := range parts {
		put(out, at*k, (*core.Tensor)(p), shape)
		if i == len(parts)-1 {
			within := rows.Mover(out, out)
			for r := at + p.Dim(0); r < size; r++ {
				within(r*k, at*k, k)
			}
		}
		at += p.Dim(0)
	}
	return (*tf.Tensor)(out), nil
}

// put copies all of src to dst from element at on, whose dimensions but the first
// are those of shape.
func put(dst *core.Tensor, at int, src *core.Tensor, shape tf.Shape) {
	move := rows.Mover(dst, src)
	if slices.Equal(src.Shape()[1:], shape[1:]) {
		move(at, 0, src.Len())
		return
	}
	if src.Len() == 0 {
		return
	}
	last := src.Rank() - 1
	width := src.Dim(last)
	index := make([]int, last) // of the vector that is copied
	for from := 0; from < src.Len(); from += width {
		to := 0
		for i, d := range index {
			to = to*shape[i] + d
		}
		move(at+to*shape[last], from, width)
		for i := last - 1; i >= 0; i-- {
			if index[i]++; index[i] < src.Dim(i) {
				break
			}
			index[i] = 0
		}
	}
}

// checkRows refuses outputs of a batch that do not have a row for each of its size rows.
func checkRows(out map[string]*tf.Tensor, size int) error {
	for _, t := range out {
		if t.Rank() == 0 {
			return tf.Errorf(tf.FailedPrecondition, "Batched output tensor has 0 dimensions")
		}
		if t.Dim(0) != size {
			return tf.Errorf(tf.FailedPrecondition, "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors")
		}
	}
	return nil
}

// divide gives each task its rows of the outputs of a batch of size rows.
func divide(out map[string]*tf.Tensor, tasks []*task, size int) ([]map[string]*tf.Tensor, error) {
	if err := checkRows(out, size); err != nil {
		return nil, err
	}
	parts := make([]map[string]*tf.Tensor, len(tasks))
	begin := 0
	for i, t := range tasks {
		parts[i] = rowsFrom(out, begin, t.rows)
		begin += t.rows
	}
	return parts, nil
}

// rejoin joins the outputs of the parts of a request.
func rejoin(parts []part) (_ map[string]*tf.Tensor, err error) {
	out := map[string]*tf.Tensor{}
	for k := range parts[0].out {
		var all []*tf.Tensor
		n := 0
		for _, p := range parts {
			if have, first := p.out[k].Rank(), parts[0].out[k].Rank(); have != first {
				return nil, tf.Errorf(tf.FailedPrecondition, "Batched output tensors of one request must have one rank, %q has %d and %d", k, first, have)
			}
			all = append(all, p.out[k])
			n += p.out[k].Dim(0)
		}
		if out[k], err = stack(all, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}
