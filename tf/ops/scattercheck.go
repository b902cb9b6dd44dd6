package ops

import "github.com/gorge-tf/gorge/tf"

// The three kinds of scatter to slices refuse shapes that do not fit in
// different words, as TensorFlow's do.

// checkScatterND serves ScatterNd.
func checkScatterND(s, idx, updates tf.Shape) error {
	switch {
	case len(idx) == 0:
		return tf.Errorf(tf.InvalidArgument, "Indices shape must have rank at least one. Found:%s", idx.String())
	case len(updates) == 0:
		return tf.Errorf(tf.InvalidArgument, "Updates shape must have rank at least one. Found:%s", updates.String())
	case product(s) == 0 && (product(idx) > 0 || product(updates) > 0):
		return tf.Errorf(tf.InvalidArgument, "Indices and updates specified for empty output.  indices shape: %s", idx.String())
	}
	last := len(idx) - 1
	if !rowsFit(idx, updates) {
		return tf.Errorf(tf.InvalidArgument, "Dimensions [0,%d) of indices[shape=%s] must match dimensions [0,%d) of updates[shape=%s]", last, idx.String(), last, updates.String())
	}
	if !slicesFit(s, idx, updates) {
		return tf.Errorf(tf.InvalidArgument, "Dimensions [%d,%d) of input[shape=%s] must match dimensions [%d,%d) of updates[shape=%s]",
			idx[last], len(s), s.String(), last, len(updates), updates.String())
	}
	return nil
}

// checkVariableScatter serves scatters to variables.
func checkVariableScatter(s, idx, updates tf.Shape) error {
	switch {
	case len(s) == 0:
		return tf.Errorf(tf.InvalidArgument, "Output must be at least 1-D, got shape: %s", s.String())
	case len(idx) == 0:
		return tf.Errorf(tf.InvalidArgument, "Indices shape must have rank at least one. Found:%s", idx.String())
	case len(updates) == 0:
		return tf.Errorf(tf.InvalidArgument, "Updates shape must have rank at least one. Found:%s", updates.String())
	case product(s) == 0 && (product(idx) > 0 || product(updates) > 0):
		return tf.Errorf(tf.InvalidArgument, "Indices and updates specified for empty output.  indices shape: %s", idx.String())
	}
	last := len(idx) - 1
	for k := range min(last, len(updates)) {
		if idx[k] != updates[k] {
			return tf.Errorf(tf.InvalidArgument, "Dimensions [0,%d) of indices[shape=%s] = %d must match dimensions [0,%d) of updates[shape=%s] = %d",
				last, idx.String(), idx[k], last, updates.String(), updates[k])
		}
	}
	if !rowsFit(idx, updates) || !slicesFit(s, idx, updates) {
		return tf.Errorf(tf.InvalidArgument, "Dimensions [%d,%d) of input[shape=%s] must match dimensions [%d,%d) of updates[shape=%s]",
			idx[last], len(s), s.String(), idx[last], len(updates), updates.String())
	}
	return nil
}

// checkTensorScatter serves TensorScatterUpdate and its like.
func checkTensorScatter(s, idx, updates tf.Shape) error {
	switch {
	case len(idx) == 0:
		return tf.Errorf(tf.InvalidArgument, "Indices shape must have rank at least one. Found:%s", idx.String())
	case len(updates) == 0:
		return tf.Errorf(tf.InvalidArgument, "Updates shape must have rank at least one. Found:%s", updates.String())
	case product(s) == 0 && (product(idx) > 0 || product(updates) > 0):
		return tf.Errorf(tf.InvalidArgument, "Indices and updates specified for empty output shape")
	case !rowsFit(idx, updates):
		return tf.Errorf(tf.InvalidArgument, "Outer dimensions of indices and update must match. Indices shape: %s, updates shape:%s", idx.String(), updates.String())
	case !slicesFit(s, idx, updates):
		return tf.Errorf(tf.InvalidArgument, "Inner dimensions of output shape must match inner dimensions of updates shape. Output: %s updates: %s", s.String(), updates.String())
	}
	return nil
}

// rowsFit reports whether there is one update for each index.
func rowsFit(idx, updates tf.Shape) bool {
	last := len(idx) - 1
	return len(updates) >= last && updates[:last].Equal(idx[:last])
}

// slicesFit reports whether updates, which fit the indices, are slices of s.
func slicesFit(s, idx, updates tf.Shape) bool {
	last := len(idx) - 1
	return idx[last] <= len(s) && updates[last:].Equal(s[idx[last]:])
}
