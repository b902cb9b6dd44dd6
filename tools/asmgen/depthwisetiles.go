package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The fields of tileSteps in conv, in their order.
const (
	tileX = 8 * iota
	tileY
	tileChannels
	tileCount
	tileXLine
	tileXPixel
	tileXNext
	tileYLine
	tileYPixel
	tileYNext
	tileTap
	tileMissing
	tileAhead
)

// The bits of what tiles do not have, as conv has them.
const (
	missFirstColumn = 1 << iota
	missLastColumn
	missFirstLine
	missLastLine
	nothingAhead // nothing is worth fetching for the next tile
)

// emitDepthwiseTiles writes the functions that compute tiles of pixels of two lines by filters
// of 3 by 3: what is loaded of the source serves all pixels of a tile that need it, and the
// filter stays in registers.
func emitDepthwiseTiles(a *asm) {
	for _, stride := range []int{1, 2} {
		emitTiles(a, fmt.Sprintf("depthwiseTiles%d", stride), fmt.Sprintf("of windows of 3 by 3 pixels that are %d apart", stride),
			func(t *tiles, v vectors) { t.windows(v, stride) })
	}
	emitTiles(a, "depthwiseSpread", "that windows of 3 by 3 pixels, 2 apart, cover: each pixel of x gives to as many of y", (*tiles).spread)
}

// tiles is a function over tiles being written.
type tiles struct {
	*asm
	steps, xc, yc, wc reg.Register
	columns           int // of a tile: pixels, or pairs of these
	filter            []vec
	zeros             vec // with AVX-512
}

func emitTiles(a *asm, name, doc string, body func(t *tiles, v vectors)) {
	name += a.isa.suffix()
	a.text(name, "func(y, x, w *float32, steps *int)",
		name+" sets tiles of two lines of y to sums of products of pixels of x and w "+doc+"; steps are the fields of tileSteps.")
	t := &tiles{asm: a, columns: 4, steps: a.arg("steps"), xc: a.GP64(), yc: a.GP64(), wc: a.GP64()}
	if a.isa == avx2 {
		t.columns = 2 // the filter leaves few registers
	}
	if a.isa == avx512 {
		t.zeros = a.zero()
	}
	a.Label("tile")
	for _, p := range []struct {
		r    reg.Register
		name string
	}{{t.xc, "x"}, {t.yc, "y"}, {t.wc, "w"}} {
		a.MOVQ(a.inMemory(p.name), p.r)
	}
	a.ADDQ(t.field(tileX), t.xc)
	a.ADDQ(t.field(tileY), t.yc)
	l := &channelLoop{asm: a, left: t.step(tileChannels), ptrs: []reg.Register{t.xc, t.yc, t.wc}}
	l.each(1, func(v vectors) {
		t.loadFilter(v)
		body(t, v)
	})
	for _, at := range [][2]int{{tileX, tileXNext}, {tileY, tileYNext}} {
		a.ADDQ(t.step(at[1]), t.field(at[0]))
	}
	a.DECQ(t.field(tileCount))
	a.JNZ(operand.LabelRef("tile"))
	a.end()
}

func (t *tiles) field(at int) operand.Mem { return operand.Mem{Base: t.steps, Disp: at} }

func (t *tiles) step(at int) reg.Register { return t.copyWord(t.field(at)) }

// copyWord returns a register with an integer.
func (t *tiles) copyWord(v operand.Op) reg.Register {
	r := t.GP64()
	t.MOVQ(v, r)
	return r
}

// sum returns a register of zeros. With AVX-512 they are copied: avo takes a register that
// is cleared by itself for one that has been in use before.
func (t *tiles) sum() vec {
	if t.isa == avx512 {
		return t.copyOf(t.zeros)
	}
	return t.zero()
}

// loadFilter loads a vector of each tap.
func (t *tiles) loadFilter(v vectors) {
	w, tap := t.copyWord(t.wc), t.step(tileTap)
	t.filter = t.filter[:0]
	for i := range 9 {
		t.filter = append(t.filter, v.load(operand.Mem{Base: w}))
		if i < 8 {
			t.ADDQ(tap, w)
		}
	}
}

// unless writes what is done if the tiles do not miss something.
func (t *tiles) unless(missing int, label string, do func()) {
	if missing > 0 {
		t.TESTB(operand.U8(missing), t.field(tileMissing))
		t.JNZ(operand.LabelRef(label))
	}
	do()
	if missing > 0 {
		t.Label(label)
	}
}

// end returns the bit of the first or the last of n, and 0 for the others.
func end(i, n, first, last int) int {
	switch i {
	case 0:
		return first
	case n - 1:
		return last
	}
	return 0
}

// line is line i, counted from that of p.
func line(p, step, step3 reg.Register, i int) operand.Mem {
	switch i {
	case 0:
		return operand.Mem{Base: p}
	case 3:
		return operand.Mem{Base: p, Index: step3, Scale: 1}
	}
	return operand.Mem{Base: p, Index: step, Scale: uint8(i)}
}

// windows writes a vector of the channels of a tile of windows.
func (t *tiles) windows(v vectors, stride int) {
	acc := [2][]vec{}
	for i := range acc {
		for range t.columns {
			acc[i] = append(acc[i], t.sum())
		}
	}
	p, ahead, xPixel, xLine := t.copyWord(t.xc), t.copyWord(t.xc), t.step(tileXPixel), t.step(tileXLine)
	t.ADDQ(t.field(tileAhead), ahead)
	xLine3 := t.GP64()
	t.LEAQ(operand.Mem{Base: xLine, Index: xLine, Scale: 2}, xLine3)
	columns, lines := (t.columns-1)*stride+3, stride+3
	for c := range columns {
		t.unless(end(c, columns, missFirstColumn, missLastColumn), fmt.Sprintf("%s_column%d", v.name, c), func() {
			for l := range lines {
				t.unless(end(l, lines, missFirstLine, missLastLine), fmt.Sprintf("%s_pixel%d_%d", v.name, c, l), func() {
					t.addWindows(v, acc, line(p, xLine, xLine3, l), c, l, stride)
				})
			}
		})
		if c < t.columns*stride && v.tail == nil {
			t.unless(nothingAhead, fmt.Sprintf("%s_ahead%d", v.name, c), func() {
				for l := range 2 * stride {
					t.PREFETCHT0(line(ahead, xLine, xLine3, l))
				}
				t.ADDQ(xPixel, ahead)
			})
		}
		if c+1 < columns {
			t.ADDQ(xPixel, p)
		}
	}
	t.storeWindows(v, acc)
}

// addWindows adds the products of a pixel in a column and a line of what the tile meets.
func (t *tiles) addWindows(v vectors, acc [2][]vec, m operand.Mem, c, l, stride int) {
	x := v.load(m)
	for i := range acc {
		kh := l - i*stride
		for j := range t.columns {
			if kw := c - j*stride; kh >= 0 && kh < 3 && kw >= 0 && kw < 3 {
				t.VFMADD231PS(x, t.filter[kh*3+kw], acc[i][j])
			}
		}
	}
}

func (t *tiles) storeWindows(v vectors, acc [2][]vec) {
	p, soon, pixel, next := t.copyWord(t.yc), t.copyWord(t.yc), t.step(tileYPixel), t.step(tileYLine)
	t.ADDQ(t.field(tileYNext), soon)
	for j := range t.columns {
		for i := range acc {
			v.store(acc[i][j], line(p, next, nil, i))
		}
		if j+1 < t.columns {
			t.ADDQ(pixel, p)
		}
	}
	if v.tail != nil {
		return
	}
	t.unless(nothingAhead, v.name+"_soon", func() {
		for range t.columns {
			t.PREFETCHT0(line(soon, next, nil, 0))
			t.PREFETCHT0(line(soon, next, nil, 1))
			t.ADDQ(pixel, soon)
		}
	})
}

// spread writes a vector of the channels of a tile of pixels that windows cover, by pairs: the
// even ones of lines and columns are covered by windows on both sides.
func (t *tiles) spread(v vectors) {
	p, xLine, yLine, tap := t.copyWord(t.xc), t.step(tileXLine), t.step(tileYLine), t.step(tileTap)
	before, at := t.copyWord(t.yc), t.copyWord(t.yc)
	var even, odd vec // see spreading
	for c := range t.columns + 1 {
		s := &spreading{tiles: t, v: v, first: c == 0, last: c == t.columns, even: even, odd: odd, before: before, yLine: yLine}
		t.unless(end(c, t.columns+1, 0, missLastColumn), fmt.Sprintf("%s_column%d", v.name, c), func() {
			s.near(operand.Mem{Base: p}, at, tap)
			t.unless(missLastLine, fmt.Sprintf("%s_far%d", v.name, c), func() { s.far(line(p, xLine, nil, 1)) })
		})
		s.storeRest(at, tap)
		if !s.last {
			t.ADDQ(t.field(tileXPixel), p)
		}
		even, odd = s.nextEven, s.nextOdd
	}
}

// spreading is what a column of pixels gives. Sums are stored as soon as they are complete:
// with AVX2 there is no register to spare.
type spreading struct {
	*tiles
	v             vectors
	first, last   bool
	before, yLine reg.Register
	even, odd     vec // the even column of the pair before, in both lines
	nextEven      vec // that of this pair
	nextOdd       vec
	side          vec // its odd column, in the even line
}

// storeRest stores what is complete after both lines, and goes on to the next pair.
func (s *spreading) storeRest(at, tap reg.Register) {
	if s.last {
		s.storeOdd()
	}
	if !s.first {
		s.v.store(s.even, operand.Mem{Base: s.before})
		s.MOVQ(at, s.before)
	}
	if !s.last {
		s.v.store(s.side, line(at, tap, nil, 1))
		s.ADDQ(s.field(tileYPixel), at)
	}
}

func (s *spreading) storeOdd() { s.v.store(s.odd, line(s.before, s.yLine, nil, 1)) }

// near adds what the pixel in the line of the pair gives.
func (s *spreading) near(m operand.Mem, at, tap reg.Register) {
	x, w := s.v.load(m), s.filter
	if !s.first {
		s.VFMADD231PS(x, w[5], s.odd)
		s.VFMADD231PS(x, w[2], s.even)
	}
	if s.last {
		return
	}
	if !s.first {
		s.storeOdd()
	}
	corner, p := s.sum(), s.GP64()
	s.VFMADD231PS(x, w[4], corner)
	s.LEAQ(line(at, s.yLine, nil, 1), p)
	s.v.store(corner, line(p, tap, nil, 1))
	s.nextEven, s.nextOdd, s.side = s.sum(), s.sum(), s.sum()
	s.VFMADD231PS(x, w[0], s.nextEven)
	s.VFMADD231PS(x, w[3], s.nextOdd)
	s.VFMADD231PS(x, w[1], s.side)
}

// far adds what the pixel of the other line gives.
func (s *spreading) far(m operand.Mem) {
	x, w := s.v.load(m), s.filter
	if !s.first {
		s.VFMADD231PS(x, w[8], s.even)
	}
	if !s.last {
		s.VFMADD231PS(x, w[6], s.nextEven)
		s.VFMADD231PS(x, w[7], s.side)
	}
}
