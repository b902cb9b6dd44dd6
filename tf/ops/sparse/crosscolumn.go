package sparse

import (
	"encoding/binary"
	"math"
	"sort"
	"strconv"
	"sync"

	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A crossColumn is one input of a cross: its elements, and which of them each
// row has.
type crossColumn struct {
	numbers []int64
	words   []string // if not nil, instead of numbers
	width   int      // of a dense input
	sparse  bool
	runs    []crossRun // of a sparse one, ascending
	next    int        // of the run where elements looks first
}

// A crossRun is the elements of a row.
type crossRun struct{ row, lo, hi int }

// elements returns the bounds of the elements of a row. Rows are asked for in
// order: most have the run after the last one's.
func (col *crossColumn) elements(row int) (lo, hi int) {
	if !col.sparse {
		return row * col.width, (row + 1) * col.width
	}
	k := col.next
	if k >= len(col.runs) || col.runs[k].row != row {
		k = sort.Search(len(col.runs), func(k int) bool { return col.runs[k].row >= row })
	}
	col.next = k + 1
	if k == len(col.runs) || col.runs[k].row != row {
		return 0, 0
	}
	return col.runs[k].lo, col.runs[k].hi
}

func (col *crossColumn) text(i int) string {
	if col.words != nil {
		return col.words[i]
	}
	return strconv.FormatInt(col.numbers[i], 10)
}

// plain returns the hash of a word, and a number as it is.
func (col *crossColumn) plain(i int) uint64 {
	if col.words != nil {
		return hash.Fingerprint64(col.words[i])
	}
	return uint64(col.numbers[i])
}

// weak is plain, but numbers of sparse inputs are hashed too.
func (col *crossColumn) weak(i int) uint64 {
	if col.words == nil && col.sparse {
		return hash.Fingerprint64(col.bytes(i))
	}
	return col.plain(i)
}

// bytes returns a word, or the lower half of a number, which is all of it that
// TensorFlow hashes.
func (col *crossColumn) bytes(i int) string {
	if col.words != nil {
		return col.words[i]
	}
	return string(binary.LittleEndian.AppendUint32(nil, uint32(col.numbers[i])))
}

// crossColumns are the inputs of a cross.
type crossColumns struct {
	list []*crossColumn
	rows int
}

func newColumn(values *core.Tensor) *crossColumn {
	col := &crossColumn{}
	if values.DType() == tf.String {
		col.words = core.Data[string](values)
		if col.words == nil {
			col.words = []string{} // and no numbers
		}
	} else {
		col.numbers = core.Data[int64](values)
	}
	return col
}

// crossInputs reads the inputs; onlyText refuses numbers.
func crossInputs(c *core.OpContext, onlyText bool) (*crossColumns, error) {
	n, values := c.Node.Int("N"), len(c.Node.TypesAttr("sparse_types"))
	if values != n {
		return nil, invalid("Expected %d input values, got %d", n, values)
	}
	if err := checkCrossLists(c, n, onlyText); err != nil {
		return nil, err
	}
	dense := make([]*core.Tensor, len(c.Node.TypesAttr("dense_types")))
	for i := range dense {
		dense[i] = c.Input(3*n + i)
	}
	cols := &crossColumns{}
	rows, err := crossRows(c, n, dense, onlyText)
	if err != nil {
		return nil, err
	}
	cols.rows = rows
	for i := range n {
		col := newColumn(c.Input(n + i))
		col.sparse, col.runs = true, crossRuns(c.Input(i), rows)
		cols.list = append(cols.list, col)
	}
	for _, t := range dense {
		col := newColumn(t)
		col.width = t.Dim(1)
		cols.list = append(cols.list, col)
	}
	return cols, nil
}

// checkCrossLists checks the parts of the sparse inputs.
func checkCrossLists(c *core.OpContext, n int, onlyText bool) error {
	for i := range n {
		switch at := c.Input(i); {
		case at.Rank() != 2:
			return invalid("Input indices should be a matrix but received shape %s at position %d", at.Shape().String(), i)
		case at.Dim(1) != 2:
			return invalid("Expected D2 of index to be 2 got %d at position %d", at.Dim(1), i)
		}
	}
	for i := range n {
		switch vals, rows := c.Input(n+i), c.Input(i).Dim(0); {
		case onlyText && vals.DType() == tf.Int64:
			return invalid("Input values should be of internal type string but received int64")
		case vals.Rank() != 1:
			return invalid("Input values should be a vector but received shape %s at position %d", vals.Shape().String(), i)
		case vals.Len() != rows:
			return invalid("Expected size of values to be %d got %d at position %d", rows, vals.Len(), i)
		}
	}
	for i := range n {
		switch s := c.Input(2*n + i); {
		case s.Rank() != 1:
			return invalid("Input shapes should be a vector but received shape %s at position %d", s.Shape().String(), i)
		case s.Len() != 2:
			return invalid("shape should imply a 2D tensor, but got %s at position %d", s.Shape().String(), i)
		}
	}
	return nil
}

// crossRows checks the dense inputs and returns the number of rows, which all
// inputs must have.
func crossRows(c *core.OpContext, n int, dense []*core.Tensor, onlyText bool) (int, error) {
	for i, t := range dense {
		if onlyText && t.DType() == tf.Int64 {
			return 0, invalid("Dense inputs should be of internal type string but received int64")
		}
		if t.Rank() != 2 {
			return 0, invalid("Dense inputs should be a matrix but received shape %s at position %d", t.Shape().String(), i)
		}
	}
	rows := 0
	if n > 0 {
		rows = int(core.Data[int64](c.Input(2 * n))[0])
	} else if len(dense) > 0 {
		rows = dense[0].Dim(0)
	}
	if rows < 0 { // TensorFlow crashes
		return 0, invalid("Expected a batch size that is not negative, got %d", rows)
	}
	for i := range n {
		if got := core.Data[int64](c.Input(2*n + i))[0]; got != int64(rows) {
			return 0, invalid("Expected batch size %d got %d at position %d", rows, got, i)
		}
	}
	for i, t := range dense {
		if t.Dim(0) != rows {
			return 0, invalid("Expected batch size %d got %d at dense tensor %d", rows, t.Dim(0), i)
		}
	}
	return rows, nil
}

// crossRuns returns the runs of elements of a sparse input, up to the first that
// is out of order or bounds: what follows counts for nothing.
func crossRuns(at *core.Tensor, rows int) (runs []crossRun) {
	v, n := core.Data[int64](at), at.Dim(0)
	runs = newRuns(min(n, rows))
	last := int64(-1)
	for lo := 0; lo < n; {
		row := v[2*lo]
		if row <= last || row >= int64(rows) {
			return runs
		}
		hi := lo + 1
		for hi < n && v[2*hi] == row {
			hi++
		}
		runs = append(runs, crossRun{int(row), lo, hi})
		last, lo = row, hi
	}
	return runs
}

// runLists are there to be used again: columns are crossed in every step.
var runLists sync.Pool // of *[]crossRun

// mostRuns bounds what a list that is kept can hold.
const mostRuns = 1 << 16

// newRuns returns an empty list with room for n runs.
func newRuns(n int) []crossRun {
	if list, ok := runLists.Get().(*[]crossRun); ok && cap(*list) >= n {
		return (*list)[:0]
	}
	return core.Make[crossRun](n)[:0]
}

// release gives the lists of runs back. cols must not be used any more.
func (cols *crossColumns) release() {
	for _, col := range cols.list {
		if list := col.runs; cap(list) > 0 && cap(list) <= mostRuns {
			col.runs = nil
			runLists.Put(&list)
		}
	}
}

// eachRow calls f for the rows that may have elements in all inputs, with the
// bounds of these, which are the next row's afterwards, and the number of
// combinations.
func (cols *crossColumns) eachRow(f func(row int, lo, hi []int, n int) error) error {
	lo, hi := make([]int, len(cols.list)), make([]int, len(cols.list))
	visit := func(row int) error {
		n := 1
		for k, col := range cols.list {
			lo[k], hi[k] = col.elements(row)
			count := hi[k] - lo[k]
			if count > 0 && n > math.MaxInt64/count {
				return invalid("row %d has too many combinations", row)
			}
			n *= count
		}
		return f(row, lo, hi, n)
	}
	if len(cols.list) > 0 && cols.list[0].sparse {
		for _, r := range cols.list[0].runs {
			if err := visit(r.row); err != nil {
				return err
			}
		}
		return nil
	}
	for row := range cols.rows {
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// joined returns what joins the text of elements.
func joined(cols []*crossColumn, sep string) func(at []int) string {
	words := make([]string, len(cols))
	return func(at []int) string {
		for k, i := range at {
			words[k] = cols[k].text(i)
		}
		return core.Join(words, sep)
	}
}

// count returns how many combinations all rows have, and the most that one has.
func (cols *crossColumns) count() (total, most int, err error) {
	err = cols.eachRow(func(_ int, _, _ []int, n int) error {
		if total > math.MaxInt64-n {
			return invalid("there are too many combinations")
		}
		total, most = total+n, max(most, n)
		return nil
	})
	return total, most, err
}

// cross makes all combinations, as f gives them, the outputs of a kernel.
func cross[T int64 | string](c *core.OpContext, cols *crossColumns, f func(at []int) T) error {
	total, most, err := cols.count()
	if err != nil {
		return err
	}
	at, err := c.Alloc(0, tf.Int64, tf.Shape{total, 2})
	if err != nil {
		return err
	}
	dst := core.Data[int64](at)
	err = combinations(c, 1, cols, total, f, func(row, n int) {
		for i := range n {
			dst[2*i], dst[2*i+1] = int64(row), int64(i)
		}
		dst = dst[2*n:]
	})
	if err != nil {
		return err
	}
	return allocShape(c, 2, tf.Shape{cols.rows, most})
}

// combinations makes all combinations, total in number, output i and tells
// counted how many each row has.
func combinations[T int64 | string](c *core.OpContext, i int, cols *crossColumns, total int, f func(at []int) T, counted func(row, n int)) error {
	vals, err := c.Alloc(i, tf.TypeOf[T](), tf.Shape{total})
	if err != nil {
		return err
	}
	out, next := core.Data[T](vals), make([]int, len(cols.list))
	return cols.eachRow(func(row int, lo, hi []int, n int) error {
		counted(row, n)
		copy(next, lo)
		for k := range out[:n] {
			out[k] = f(next)
			advance(next, lo, hi)
		}
		out = out[n:]
		return nil
	})
}

// advance goes to the next combination, the last element first.
func advance(at, lo, hi []int) {
	for k := len(at) - 1; k >= 0; k-- {
		if at[k]++; at[k] < hi[k] {
			return
		}
		at[k] = lo[k]
	}
}
