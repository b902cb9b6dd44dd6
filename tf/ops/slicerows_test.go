package ops

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestSliceLoops compares each slicesOp with row by row, for all types, and what gathers
// slices with element by element: rows that come again and ones that are left out.
func TestSliceLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, family := range []struct {
		loops slicesOps
		rows  rowOps
	}{{addSlices, addCells}, {subSlices, subCells}, {mulSlices, mulRows}, {maxSlices, maxRows}, {minSlices, minRows}, {setSlices, setRows}} {
		if len(family.loops) != len(family.rows) {
			t.Errorf("%d types, want %d", len(family.loops), len(family.rows))
		}
		for d, loop := range family.loops {
			for _, width := range []int{1, 2, 5, 16, 19} {
				at := make([]int64, 50)
				for i := range at {
					at[i] = int64(r.IntN(31)) - 1
				}
				got, src := randomTensor(r, d, tf.Shape{30, width}), randomTensor(r, d, tf.Shape{60, width})
				want := core.NewTensor(d, got.Shape())
				move(want, got)(0, 0, got.Len())
				loop(got, src)(at, 7, width)
				eachSlice(family.rows[d])(want, src)(at, 7, width)
				if d.Size() > 0 && !bytes.Equal(got.Buffer().Bytes(), want.Buffer().Bytes()) {
					t.Errorf("%s in rows of %d: other values", d, width)
				}
			}
		}
	}
}

// randomTensor returns small numbers, all of which are different, or empty objects.
func randomTensor(r *rand.Rand, d tf.DType, s tf.Shape) *core.Tensor {
	t := core.NewTensor(d, s)
	if d.Size() == 0 {
		return t
	}
	b := t.Buffer().Bytes()
	for i := range b {
		if b[i] = byte(r.IntN(60)); d == tf.Bool {
			b[i] &= 1
		}
	}
	return t
}

// TestTakeSlices compares what gathers plain slices with what gathers any, on blocks of
// indices of both widths that hold some outside.
func TestTakeSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, s := range []tf.Shape{{7}, {7, 1}, {3, 5}, {3, 5, 2, 4}, {2, 2, 2, 2, 3}, {3, 4, 16}} {
		for depth := range min(4, len(s)) + 1 {
			for _, n := range []int{1, walkBlock - 1, walkBlock, 3*walkBlock + 5} {
				for _, outside := range []int{0, 1, 40} {
					idx := core.NewTensor(tf.Int64, tf.Shape{n, depth})
					v := core.Data[int64](idx)
					for i := range v {
						v[i] = int64(r.IntN(s[i%depth]))
					}
					for range min(outside, len(v)) {
						v[r.IntN(len(v))] = []int64{-1, 7, 1 << 30}[r.IntN(3)]
					}
					compareTaken(t, r, s, idx)
				}
			}
		}
	}
}

func compareTaken(t *testing.T, r *rand.Rand, s tf.Shape, idx *core.Tensor) {
	t.Helper()
	src := randomTensor(r, tf.Float32, s)
	narrow := core.NewTensor(tf.Int32, idx.Shape())
	for i, v := range core.Data[int64](idx) {
		core.Data[int32](narrow)[i] = int32(v)
	}
	w, n := newSlices(idx, s), idx.Dim(0)
	want := core.NewTensor(tf.Float32, tf.Shape{n, w.inner})
	inside := moveSlices(want, src, w, 0, n)
	for _, by := range []*core.Tensor{idx, narrow} {
		got, w := core.NewTensor(tf.Float32, want.Shape()), newSlices(by, s)
		cut := r.IntN(n + 1)
		first, second := takeSlices(got, src, w, 0, cut), takeSlices(got, src, w, cut, n)
		if first && second != inside || !bytes.Equal(got.Buffer().Bytes(), want.Buffer().Bytes()) {
			t.Errorf("%d slices of %v by %v: other values", n, s, by.Shape())
		}
	}
}

// TestScatterBlocks compares scatters of several blocks with slice by slice: what is written,
// up to the first index outside, and what the error says.
func TestScatterBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, n := range []int{1, walkBlock, 2*walkBlock + 9} {
		for _, bad := range []int{-1, 0, n / 2, n - 1} {
			for _, policy := range []badIndices{{}, {ignore: true}} {
				s := tf.Shape{9, 4, 2}
				idx, updates := core.NewTensor(tf.Int32, tf.Shape{n, 2}), randomTensor(r, tf.Float32, tf.Shape{n, 2})
				v := core.Data[int32](idx)
				for i := range v {
					v[i] = int32(r.IntN(s[i%2]))
				}
				if bad >= 0 {
					v[2*bad+1] = 4
				}
				compareScattered(t, r, s, idx, updates, policy)
			}
		}
	}
}

func compareScattered(t *testing.T, r *rand.Rand, s tf.Shape, idx, updates *core.Tensor, policy badIndices) {
	t.Helper()
	n, got, said := idx.Dim(0), randomTensor(r, tf.Float32, s), ""
	want := core.NewTensor(tf.Float32, s)
	move(want, got)(0, 0, got.Len())
	join, w := addRows[tf.Float32](want, updates), newSlices(idx, s)
	for i := 0; i < n && said == ""; i++ {
		if at, ok := w.offset(i); ok {
			join(at, i*w.inner, w.inner)
		} else if !policy.ignore {
			said = "indices" + position(tf.Shape{n}, i) + " = [" + w.text(i) + "] does not index into shape [9,4,2]"
		}
	}
	err := scatterSlices(got, idx, updates, addSlices[tf.Float32], policy)
	if (err != nil) != (said != "") || err != nil && !strings.Contains(err.Error(), said) {
		t.Errorf("%d slices: %v, want %q", n, err, said)
	}
	if !bytes.Equal(got.Buffer().Bytes(), want.Buffer().Bytes()) {
		t.Errorf("%d slices, %v: other values", n, err)
	}
}

// TestScatterRowBlocks compares scatters of several blocks of rows with row by row: a row for
// each index, and a scalar for all.
func TestScatterRowBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, n := range []int{1, walkBlock + 3, 5 * walkBlock} {
		for _, width := range []int{1, 3, 300} {
			for _, s := range []tf.Shape{{n, width}, {}} {
				got, updates := randomTensor(r, tf.Int32, tf.Shape{20, width}), randomTensor(r, tf.Int32, s)
				idx, want := core.NewTensor(tf.Int64, tf.Shape{n}), core.NewTensor(tf.Int32, got.Shape())
				move(want, got)(0, 0, got.Len())
				z, x := core.Data[int32](want), core.Data[int32](updates)
				for i := range n {
					to := r.IntN(20)
					core.Data[int64](idx)[i] = int64(to)
					for j := range width {
						z[to*width+j] += x[min(i*width+j, len(x)-1)]
					}
				}
				c := &core.OpContext{Step: &core.Step{}, In: []core.Slot{{}, {T: idx}, {T: updates}}}
				if err := scatterRows(c, got, addSlices[tf.Int32], width); err != nil || !bytes.Equal(got.Buffer().Bytes(), want.Buffer().Bytes()) {
					t.Errorf("%d rows of %d, updates %v: other values, %v", n, width, s, err)
				}
			}
		}
	}
}
