package main

import "fmt"

// elemSize is the logarithm of the bytes of an element.
type elemSize uint8

const (
	f32 elemSize = 2
	f64 elemSize = 3
)

func (s elemSize) goType() string { return map[elemSize]string{f32: "float32", f64: "float64"}[s] }

// gemmShape is the instruction set and element type of a set of micro-kernels.
type gemmShape struct {
	isa  isa
	elem elemSize
}

// lanes is the number of elements of a vector.
func (g gemmShape) lanes() int { return int(g.isa) >> g.elem }

// height is the number of rows of the highest tile: its accumulators, two
// vectors a row, leave room for two vectors of B and one of A.
func (g gemmShape) height() int {
	if g.isa == avx2 {
		return 6
	}
	return 14
}

// suffix ends the names of the functions.
func (g gemmShape) suffix() string {
	return map[elemSize]string{f32: "F32", f64: "F64"}[g.elem] + g.isa.suffix()
}

// micro is one family of micro-kernels. All compute a tile of C, of h rows and
// one or two vectors, from h rows of A and as many columns of B.
type micro struct {
	name string
	doc  string
	vecs int
	// rows: A lies in rows that are lda apart. Otherwise it is packed, h
	// elements for every k.
	rows bool
	// single: tiles have one row, and so many vectors that their sums do not wait for one
	// another. B is read by the multiplications.
	single bool
	// masked: only the columns that mask marks exist.
	masked bool
	// packing: B is copied to pb for the tiles that follow.
	packing bool
	// ahead: B is packed, and rows of a panel at next, ldn apart, are fetched
	// for the tiles that follow.
	ahead bool
	// beside: rows of the panel of B at next, ldb apart, are fetched.
	beside bool
	// turned: A is transposed, as it lies in memory: its columns are lda apart, and h elements of
	// each are side by side.
	turned bool
}

// micros lists the families.
var micros = []micro{
	{name: "rowsFull", doc: "A in rows, two vectors of columns", vecs: 2, rows: true},
	{name: "rowsNext", doc: "A in rows, two vectors of columns; next is fetched into the second-level cache", vecs: 2, rows: true, beside: true},
	{name: "colsNext", doc: "A transposed, two vectors of columns; next is fetched into the second-level cache", vecs: 2, turned: true, beside: true},
	{name: "rowsWide", doc: "A in rows, eight vectors of columns", vecs: 8, rows: true, single: true},
	{name: "rowsPair", doc: "A in rows, four vectors of columns", vecs: 4, rows: true, single: true},
	{name: "rowsEdge", doc: "A in rows, up to two vectors of columns", vecs: 2, rows: true, masked: true},
	{name: "rowsHalf", doc: "A in rows, up to one vector of columns", vecs: 1, rows: true, masked: true},
	{name: "packEdge", doc: "A packed, up to two vectors of columns", vecs: 2, masked: true},
	{name: "packHalf", doc: "A packed, up to one vector of columns", vecs: 1, masked: true},
	{name: "packFirst", doc: "A packed, two vectors of columns that are copied to pb", vecs: 2, packing: true},
	{name: "packFull", doc: "A packed, B packed; next is fetched into the second-level cache", vecs: 2, ahead: true},
}

// height is the number of rows of the highest tile of a family.
func (m micro) height(g gemmShape) int {
	if m.single {
		return 1
	}
	return g.height()
}

// args lists the parameters beyond those all families share.
func (m micro) signature(t string) string {
	a := "a *" + t
	if m.rows || m.turned {
		a = "a *" + t + ", lda int"
	}
	b := "b *" + t + ", ldb int"
	switch {
	case m.packing:
		b += ", pb *" + t
	case m.ahead:
		b = "b, next *" + t + ", ldn int"
	case m.beside:
		b += ", next *" + t
	}
	s := fmt.Sprintf("func(k int, %s, %s, c *%s, ldc int, beta int", a, b, t)
	if m.masked {
		s += ", width int"
	}
	return s + ")"
}

// kernelName names the kernel of a family for tiles of h rows.
func kernelName(m micro, g gemmShape, h int) string {
	return fmt.Sprintf("%s%d%s", m.name, h, g.suffix())
}

// unroll returns the number of steps of k per round and its logarithm. The
// kernels for edges are many and rarely run: they are kept small.
func (m micro) unroll() (n int, log uint8) {
	if m.masked {
		return 2, 1
	}
	return 4, 2
}
