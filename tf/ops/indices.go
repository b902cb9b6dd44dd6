package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// badIndexIn returns an error if an index in t is not in [0, n).
func badIndexIn(t *core.Tensor, name string, n int) error {
	bad := -1
	switch t.DType() {
	case tf.Int32:
		bad = layout.BadIndex(core.Data[int32](t), n)
	case tf.Int64:
		bad = layout.BadIndex(core.Data[int64](t), n)
	default:
		bad = layout.BadIndex(rows.Indices(t), n)
	}
	if bad < 0 {
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "%s%s = %v is not in [0, %d)", name, position(t.Shape(), bad), t.At(bad), n)
}

// position formats element i of a tensor of shape s as its indices: "[1,2]".
func position(s tf.Shape, i int) string {
	if len(s) == 0 {
		return ""
	}
	at := make([]int, len(s))
	for k := len(s) - 1; k >= 0; k-- {
		at[k] = i % s[k]
		i /= s[k]
	}
	return fmt.Sprintf("[%s]", joinInts(at, ","))
}
