package lookup

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Numbers returns a function that looks up the number of a word, absent if it has
// none, in the table that input i of a kernel points to. It is for kernels of
// operations that read words by a vocabulary. The function is for one goroutine,
// in the step of c. A table that is not from strings to int64 is refused with
// INVALID_ARGUMENT; the function refuses a table that is not filled with
// FAILED_PRECONDITION.
func Numbers(c *core.OpContext, i int, absent int64) (func(word string) (int64, error), error) {
	t, err := tableOfHandle(c, i)
	if err != nil {
		return nil, err
	}
	s := t.about()
	if s.key != tf.String || s.value != tf.Int64 || len(s.keyShape)+len(s.valueShape) > 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a vocabulary must be a table from string to int64, got one from %s to %s", s.key.CName(), s.value.CName())
	}
	keys, def, out := core.NewTensor(tf.String, tf.Shape{1}), core.Scalar(absent), core.NewTensor(tf.Int64, tf.Shape{1})
	return func(word string) (int64, error) {
		core.Data[string](keys)[0] = word
		if err := t.find(keys, def, out); err != nil {
			return 0, err
		}
		return core.Data[int64](out)[0], nil
	}, nil
}
