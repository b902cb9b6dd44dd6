package train

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
)

// A VocabInfo says how the rows of a float32 matrix belong to the words of a
// vocabulary, in the model and in the checkpoint that it begins with: TensorFlow's
// tf.train.VocabInfo. Words that both vocabularies have keep their rows.
type VocabInfo struct {
	NewFile string // the model's vocabulary, a word a line
	NewSize int    // how many of its lines count
	OOV     int    // how many rows follow for words that are not in it
	OldFile string // the checkpoint's vocabulary
	OldSize int    // how many of its lines count; 0 stands for all
	// Initializer is that of rows without an old one, nil: zeros. It is called for the
	// whole matrix.
	Initializer initializers.Initializer
	// Axis is 0 if rows belong to words, 1 if columns do: the logits of classes.
	Axis int
}

// check reports what makes no sense for a variable of the given shape.
func (i *VocabInfo) check(name string, d tf.DType, s tf.Shape) error {
	bad := func(format string, args ...any) error {
		return tf.Errorf(tf.InvalidArgument, "warm start of "+name+": "+format, args...)
	}
	switch {
	case i.NewFile == "" || i.OldFile == "" || i.NewSize < 1 || i.OOV < 0 || i.OldSize < 0:
		return bad("Invalid warm-starting vocabulary info: it needs both files and the size of the new one, got %q of size %d with %d more, and %q of size %d", i.NewFile, i.NewSize, i.OOV, i.OldFile, i.OldSize)
	case i.Axis != 0 && i.Axis != 1:
		return bad("The only supported values for the axis argument are 0 and 1.  Provided axis: %d", i.Axis)
	case len(s) != 2 || d != tf.Float32:
		return bad("a variable with a vocabulary must be a float32 matrix, got %v of shape %v", d, s)
	case s[i.Axis] != i.NewSize+i.OOV:
		return bad("dimension %d must be that of the vocabulary and what follows it, %d + %d, got shape %v", i.Axis, i.NewSize, i.OOV, s)
	}
	return nil
}

// part is what a variable holds of a matrix.
type part struct{ whole, offset, shape tf.Shape }

func partOf(v *tf.Variable) part {
	if s := v.Slice(); s != nil {
		return part{s.FullShape, s.Offset, s.Shape}
	}
	return part{v.Shape(), make(tf.Shape, len(v.Shape())), v.Shape()}
}

// initByWords makes the rows of a matrix in a checkpoint the initial values of v.
func initByWords(r *CheckpointReader, name string, v *tf.Variable, i *VocabInfo) error {
	key, ok := r.Key(name)
	if !ok {
		return tf.Errorf(tf.NotFound, "Tensor %s is not found in %s checkpoint", name, r.path)
	}
	p := partOf(v)
	if err := i.check(v.Name(), v.DType(), p.whole); err != nil {
		return err
	}
	if old := r.infos[key]; len(old.Shape) != 2 || old.DType != tf.Float32 || old.Shape[1-i.Axis] != p.whole[1-i.Axis] {
		return tf.Errorf(tf.InvalidArgument, "Shape of variable %s (%v) doesn't match with shape of tensor %s (%v) from checkpoint reader.", v.Name(), p.whole, name, old.Shape)
	}
	if err := notYetUsed(v); err != nil {
		return err
	}
	g := v.Graph()
	g.InitScope(func() {
		g.Scope("vocabulary_initializer", func() {
			beside(v, func() { v.SetInitial(i.values(g, r.path, key, p)) })
		})
	})
	return g.Err()
}

// values adds the operations that load a part of a matrix.
func (i *VocabInfo) values(g *tf.Graph, path, key string, p part) tf.Output {
	words := i.remapping(g, p.offset[i.Axis], p.shape[i.Axis])
	init := i.Initializer
	if init == nil {
		init = initializers.Zeros
	}
	missing := ops.Reshape(ops.Where(words.Less(int64(0))), []int{-1})
	fresh := ops.Slice(init(g, tf.Float32, p.whole), p.offset, p.shape)
	fresh = ops.Reshape(ops.Gather(fresh, missing, i.Axis), []int{-1})
	rows, columns := words, ops.Const(g, []int64{})
	if i.Axis == 1 {
		rows, columns = ops.Range(g, p.offset[0], p.offset[0]+p.shape[0], 1).Cast(tf.Int64), words
	}
	return checkpoint.LoadAndRemapMatrix(ops.Scalar(g, path), ops.Scalar(g, key), rows, columns, fresh, p.shape[0], p.shape[1])
}

// remapping returns where n words from an offset on stand in the old vocabulary, -1
// for those that do not.
func (i *VocabInfo) remapping(g *tf.Graph, offset, n int) tf.Output {
	known := max(min(i.NewSize-offset, n), 0)
	var opts []tf.Option
	if i.OldSize > 0 {
		opts = append(opts, checkpoint.OldVocabSize(i.OldSize))
	}
	words, _ := checkpoint.GenerateVocabRemapping(ops.Scalar(g, i.NewFile), ops.Scalar(g, i.OldFile), min(offset, i.NewSize), known, opts...)
	if known == n {
		return words
	}
	return ops.Concat(0, []tf.Output{words, ops.Fill([]int{n - known}, ops.Scalar(g, int64(-1)))})
}
