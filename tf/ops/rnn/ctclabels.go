package rnn

import (
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// ctcOf checks the inputs of CTCLoss and finds the path of each sequence.
func ctcOf(c *core.OpContext) (*ctc, error) {
	x, at, values, lengths := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	err := all(
		rule(x.Rank() == 3, "inputs is not a 3-Tensor"), rule(lengths.Rank() == 1, "sequence_length is not a vector"),
		rule(at.Rank() == 2, "labels_indices is not a matrix"), rule(values.Rank() == 1, "labels_values is not a vector"))
	if err != nil {
		return nil, err
	}
	v := &ctc{time: x.Dim(0), batch: x.Dim(1), classes: x.Dim(2), blank: x.Dim(2) - 1, merge: c.Node.Bool("ctc_merge_repeated"), lengths: core.Data[int32](lengths)}
	err = all(
		rule(v.classes > 0, "num_classes must be positive, got 0"),
		rule(v.batch == lengths.Len(), "len(sequence_length) != batch_size.  len(sequence_length):  %d batch_size: %d", lengths.Len(), v.batch),
		rule(at.Dim(0) == values.Len(), "labels_indices and labels_values must contain the same number of rows, but saw shapes: %s vs. %s", at.Shape().String(), values.Shape().String()),
		rule(v.batch != 0, "batch_size must not be 0"),
		rule(at.Dim(1) == 2, "Order length must be SparseTensor rank."))
	if err != nil {
		return nil, err
	}
	labels, err := v.sequences(core.Data[int64](at), core.Data[int32](values))
	if err != nil {
		return nil, err
	}
	if err := v.checkLengths(); err != nil {
		return nil, err
	}
	return v, v.findPaths(c.Node, labels)
}

// sequences takes a sparse matrix of labels apart by rows.
func (v *ctc) sequences(at []int64, values []int32) ([][]int32, error) {
	widest := int64(0)
	for i := range values {
		widest = max(widest, at[2*i+1]+1)
	}
	out := core.Make[[]int32](v.batch)
	for i, l := range values {
		b, k := at[2*i], at[2*i+1]
		if b < 0 || b >= int64(v.batch) || k < 0 {
			return nil, invalid("label SparseTensor is not valid: indices[%d] = [%d,%d] is out of bounds: need 0 <= index < [%d,%d]", i, b, k, v.batch, widest)
		}
		if err := ascending(at, i); err != nil {
			return nil, err
		}
		out[b] = append(out[b], l)
	}
	return out, nil
}

// ascending wants index i to come after the one before it.
func ascending(at []int64, i int) error {
	if i == 0 {
		return nil
	}
	b, k, b0, k0 := at[2*i], at[2*i+1], at[2*i-2], at[2*i-1]
	switch {
	case b == b0 && k == k0:
		return invalid("label SparseTensor is not valid: indices[%d] = [%d,%d] is repeated", i, b, k)
	case b < b0 || b == b0 && k < k0:
		return invalid("label SparseTensor is not valid: indices[%d] = [%d,%d] is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n", i, b, k)
	}
	return nil
}

func (v *ctc) checkLengths() error {
	if v.time == 0 {
		return invalid("Max time or first dimension of input cannot be 0.")
	}
	for b, n := range v.lengths {
		if int(n) > v.time {
			return invalid("sequence_length(%d) <= %d", b, v.time)
		}
	}
	for b, n := range v.lengths {
		if n < 0 {
			return invalid("seq_len(%d) < 0", b)
		}
	}
	return nil
}

// findPaths sets the paths of the sequences that have a loss.
func (v *ctc) findPaths(n *core.Node, labels [][]int32) error {
	collapse, ignore := n.Bool("preprocess_collapse_repeated"), n.Bool("ignore_longer_outputs_than_inputs")
	v.paths = core.Make[[]int](v.batch)
	for b, l := range labels {
		if len(l) == 0 {
			return invalid("Labels length is zero in batch %d", b)
		}
		path, err := v.path(b, l, collapse)
		if err != nil {
			return err
		}
		longer := len(l) > int(v.lengths[b])
		if longer && !ignore {
			return invalid("Not enough time for target transition sequence (required: %d, available: %d)%dYou can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs", len(l), v.lengths[b], b)
		}
		if !longer {
			v.paths[b] = path
		}
	}
	return nil
}

// path returns the labels of sequence b with blanks before, between and after
// them. Blanks may end the labels, but not stand between them.
func (v *ctc) path(b int, labels []int32, collapse bool) ([]int, error) {
	var seen []int32
	ended := false
	for i, l := range labels {
		switch {
		case collapse && i > 0 && l == labels[i-1]:
		case int(l) >= v.blank:
			ended = true
		case ended:
			return nil, invalid("Saw a non-null label (index >= num_classes - 1) following a null label, batch: %d num_classes: %d labels: %s labels seen so far: %s", b, v.classes, joined(labels), joined(seen))
		default:
			seen = append(seen, l)
		}
	}
	path := []int{v.blank}
	for _, l := range seen {
		if l < 0 {
			return nil, invalid("All labels must be nonnegative integers, batch: %d labels: %s", b, joined(seen))
		}
		path = append(path, int(l), v.blank)
	}
	return path, nil
}

// joined lists labels as messages show them: "1,2".
func joined(labels []int32) string {
	out := core.Make[string](len(labels))
	for i, l := range labels {
		out[i] = strconv.Itoa(int(l))
	}
	return strings.Join(out, ",")
}
