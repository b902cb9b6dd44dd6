package ragged

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// buffer returns room for n places, if there is that much memory.
func buffer(c *core.OpContext, n int) ([]int64, error) {
	t, err := c.Temp(tf.Int64, tf.Shape{n})
	if err != nil {
		return nil, err
	}
	return core.Data[int64](t), nil
}

// A rowSize says how many elements of a row have a place, and how far these are
// from each other.
type rowSize struct{ size, step int }

// at returns where element k of a row goes.
func (r rowSize) at(row int64, k int) int64 {
	if row < 0 || k >= r.size {
		return -1
	}
	return row + int64(k*r.step)
}

// bySplits returns the places of what is in rows of the given places.
func (r rowSize) bySplits(c *core.OpContext, parents []int64, splits []int) ([]int64, error) {
	if n := len(splits) - 1; n > len(parents) {
		return nil, invalid("Row partition size is greater than output size: %d > %d", n, len(parents))
	}
	if len(splits) == 0 {
		return nil, nil
	}
	if splits[0] != 0 || !slices.IsSorted(splits) {
		return nil, invalid("Invalid row split size.")
	}
	out, err := buffer(c, splits[len(splits)-1])
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(splits); i++ {
		for k := splits[i]; k < splits[i+1]; k++ {
			out[k] = r.at(parents[i], k-splits[i])
		}
	}
	return out, nil
}

// byIDs is bySplits for the rows that elements are in.
func (r rowSize) byIDs(c *core.OpContext, parents []int64, ids []int) ([]int64, error) {
	out, err := buffer(c, len(ids))
	if err != nil {
		return nil, err
	}
	from := 0
	for i, id := range ids {
		if id != ids[from] {
			from = i
		}
		if id < 0 || id >= len(parents) {
			name := "next_value_rowid"
			if i == 0 {
				name = "current_value_rowid"
			}
			return nil, invalid("Got %s=%d which is not less than %d", name, id, len(parents))
		}
		out[i] = r.at(parents[id], i-from)
	}
	return out, nil
}
