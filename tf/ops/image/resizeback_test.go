package image

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/tf"
)

// plainResizeBack gives the gradient of each new pixel to those it is made of.
func plainResizeBack(s tf.Shape, dx, dy []float32, rows, columns []taps) {
	for i := range s[0] * len(rows) {
		row := rows[i%len(rows)]
		for o, column := range columns {
			for k, y := range row.at {
				for l, x := range column.at {
					for ch := range s[3] {
						dx[((i/len(rows)*s[1]+y)*s[2]+x)*s[3]+ch] += row.weight[k] * column.weight[l] * dy[(i*len(columns)+o)*s[3]+ch]
					}
				}
			}
		}
	}
}

// TestResizeBack: rows and columns one after the other are what all taps of a pixel are.
func TestResizeBack(t *testing.T) {
	for _, depth := range []int{1, 2, 3, 20} {
		for _, size := range [][2]int{{1, 1}, {4, 9}, {17, 3}, {7, 11}} {
			for name, f := range map[string]interpolation{"bilinear": bilinear, "bicubic": bicubic} {
				s := tf.Shape{2, 7, 5, depth}
				rows, columns := resizing{in: 7, out: size[0], scale: 7 / float32(size[0])}.all(f), resizing{in: 5, out: size[1], scale: 5 / float32(size[1])}.all(f)
				dy := kerneltest.Random[float32](2*size[0]*size[1]*depth, uint64(depth))
				want, got := make([]float32, s.NumElements()), kerneltest.Random[float32](s.NumElements(), 1)
				plainResizeBack(s, want, dy, rows, columns)
				r := &resizerBack{s: s, dx: got, dy: dy, rows: rows, columns: columns}
				check := func(how string) {
					if far := kerneltest.FarApart(got, want, 1e-5); far != "" {
						t.Error(fmt.Sprint(name, " to ", size, " of ", depth, " channels, ", how, ": ", far))
					}
				}
				of := r.partsOfRows()
				r.rowsFirst(of, 5, 14)
				r.rowsFirst(of, 0, 5)
				check("rows first")
				r.columnsFirst(1, 2)
				r.columnsFirst(0, 1)
				check("columns first")
			}
		}
	}
}
