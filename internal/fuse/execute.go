package fuse

import "unsafe"

// execute runs machine code for n rows: at once, or row by row if some streams are columns or
// have rows that are repeated.
func (f *frame) execute(st *stage, s *step, n int) {
	for row := 0; row < n; {
		left := f.begin(st, s, row, n-row)
		row += left
		if !s.byRow {
			s.code.Run(f.streams, left*s.per)
			continue
		}
		s.code.Run(f.streams, s.per)
		for range left - 1 {
			for a, step := range f.strides {
				f.streams[a] = unsafe.Add(f.streams[a], step)
			}
			s.code.Run(f.streams, s.per)
		}
	}
	clear(f.streams)
}

// begin finds where the streams of a row of the block are, and how far those of the next one are
// from there. It returns for how many of at most n rows that holds.
func (f *frame) begin(st *stage, s *step, row, n int) (rows int) {
	f.streams, f.strides = f.streams[:0], f.strides[:0]
	rows = n
	for a := range s.args {
		x := &s.args[a]
		stride := x.per
		switch {
		case x.how == spanned:
			var left int
			stride, left = x.walk.RowStride(f.from+row, s.per)
			rows = min(rows, left)
		case x.how == single:
			stride = 0
		case x.how == rowed:
			stride = s.per
		}
		f.streams, f.strides = append(f.streams, f.address(st, s, x, row)), append(f.strides, stride*x.size)
	}
	return rows
}

// address returns where the elements of a stream are that belong to a row of the block.
func (f *frame) address(st *stage, s *step, x *arg, row int) unsafe.Pointer {
	data, from := f.memory[x.value], (f.from+row)*x.per
	switch {
	case x.how == single:
		from = 0
	case x.how == spanned:
		from = x.walk.At((f.from + row) * s.per)
	case x.how == rowed:
		data, from = f.rows[x.at], (f.from+row)*s.per%st.rows[x.at].period
	case x.register != none:
		data, from = f.registers[x.register], row*x.per
	}
	return unsafe.Pointer(&data[from*x.size])
}
