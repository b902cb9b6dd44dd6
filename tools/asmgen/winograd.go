package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A convolution of windows of 3×3 that move by 1 is computed for tiles of 2×2 results at a
// time (Winograd's F(2×2, 3×3); Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2015): images, filters and results are transformed by lines, then by columns,
// and 16 points of each take the place of 36 products. The loops here are the transforms.

// emitWinograd writes the transforms.
func emitWinograd(a *asm, i isa) {
	a.isa = i
	emitWinogradImages(a)
	emitWinogradGrads(a)
	emitWinogradResults(a)
	emitWinogradFilters(a)
	emitWinogradSums(a)
}

// points are the 4×4 points of a vector of tiles, or of filters.
type points struct {
	*asm
	rows [4]reg.Register
	// step and thrice are the bytes from a point to the next and to the last one of a row.
	step, thrice reg.Register
}

// pointsAt returns points that begin at an argument, each a step from the one before.
func (a *asm) pointsAt(base, step string) points {
	p := points{asm: a, step: a.arg(step), thrice: a.GP64()}
	a.LEAQ(operand.Mem{Base: p.step, Index: p.step, Scale: 2}, p.thrice)
	p.rows[0] = a.arg(base)
	for i := 1; i < len(p.rows); i++ {
		p.rows[i] = a.GP64()
		a.LEAQ(operand.Mem{Base: p.rows[i-1], Index: p.step, Scale: 4}, p.rows[i])
	}
	return p
}

// at is where point j of row i is.
func (p points) at(i, j int) operand.Mem {
	m := operand.Mem{Base: p.rows[i]}
	switch j {
	case 1, 2:
		m.Index, m.Scale = p.step, uint8(j)
	case 3:
		m.Index, m.Scale = p.thrice, 1
	}
	return m
}

// tileLoop is a loop over tiles, and over the channels of each, being written. The tail of
// the channels has a mask that is made once.
type tileLoop struct {
	*asm
	tail
	ptrs []reg.Register // they move along with the channels
}

// each writes the loop: body for a vector of channels, next after those of a tile.
func (l *tileLoop) each(channels string, body func(v vectors), next func()) {
	left := l.arg(channels)
	l.ANDQ(operand.I8(int8(l.lanes()-1)), left)
	l.tail = l.newTail(left)
	l.Label("tile")
	l.MOVQ(l.inMemory(channels), left)
	l.SUBQ(operand.I32(int32(l.lanes())), left)
	l.JLT(operand.LabelRef("part"))
	l.Label("whole")
	body(vectors{asm: l.asm, n: 1})
	for _, p := range l.ptrs {
		l.ADDQ(operand.I32(int32(l.isa)), p)
	}
	l.SUBQ(operand.I32(int32(l.lanes())), left)
	l.JGE(operand.LabelRef("whole"))
	l.Label("part")
	l.ADDQ(operand.I32(int32(l.lanes())), left)
	l.JZ(operand.LabelRef("next"))
	body(vectors{asm: l.asm, n: 1, tail: &l.tail})
	for _, p := range l.ptrs {
		l.LEAQ(operand.Mem{Base: p, Index: left, Scale: 4}, p)
	}
	l.Label("next")
	next()
	l.DECQ(l.inMemory("count"))
	l.JNZ(operand.LabelRef("tile"))
}

// sum returns x plus memory, difference x minus memory.
func (v vectors) sum(x vec, m operand.Mem) vec {
	r := v.vec()
	if v.tail != nil {
		v.VADDPS(v.load(m), x, r)
	} else {
		v.VADDPS(m, x, r)
	}
	return r
}

func (v vectors) difference(x vec, m operand.Mem) vec {
	r := v.vec()
	if v.tail != nil {
		v.VSUBPS(v.load(m), x, r)
	} else {
		v.VSUBPS(m, x, r)
	}
	return r
}

// sumOf returns x plus y, differenceOf x minus y.
func (a *asm) sumOf(x, y vec) vec {
	r := a.vec()
	a.VADDPS(y, x, r)
	return r
}

func (a *asm) differenceOf(x, y vec) vec {
	r := a.vec()
	a.VSUBPS(y, x, r)
	return r
}

// imagePoints transforms four elements of an image.
func (a *asm) imagePoints(t [4]vec) [4]vec {
	return [4]vec{a.differenceOf(t[0], t[2]), a.sumOf(t[1], t[2]), a.differenceOf(t[2], t[1]), a.differenceOf(t[1], t[3])}
}

// emitWinogradImages writes the transform of tiles of 4×4 elements of images.
func emitWinogradImages(a *asm) {
	name := "winogradImages" + a.isa.suffix()
	a.text(name, "func(v *float32, point, gap int, l0, l1, l2, l3 *float32, pixel, channels, count int)",
		name+" sets the 16 points of count tiles, each over 4 pixels of four lines and 2 pixels from the one before; "+
			"a point is so many bytes from the one before, the points of a tile begin gap bytes after those of the one before end.")
	v := a.pointsAt("v", "point")
	l := &tileLoop{asm: a, ptrs: v.rows[:]}
	var lines [4]reg.Register
	for i := range lines {
		lines[i] = a.arg(fmt.Sprintf("l%d", i))
	}
	l.ptrs = append(append([]reg.Register{}, v.rows[:]...), lines[:]...)
	pixels := points{asm: a, rows: lines, step: a.arg("pixel"), thrice: a.GP64()}
	a.LEAQ(operand.Mem{Base: pixels.step, Index: pixels.step, Scale: 2}, pixels.thrice)
	l.each("channels", func(c vectors) {
		for i := range 4 {
			for j, p := range a.imagePoints(c.imageLine(pixels, i)) {
				c.store(p, v.at(i, j))
			}
		}
	}, func() {
		for i := range 4 {
			a.ADDQ(pixels.step, lines[i])
			a.ADDQ(a.inMemory("gap"), v.rows[i])
		}
	})
	a.end()
}

// imageLine transforms the lines of an image into line i of the points, by column.
func (v vectors) imageLine(at points, i int) (t [4]vec) {
	pair := [4][2]int{{0, 2}, {1, 2}, {2, 1}, {1, 3}}[i]
	for j := range t {
		x, y := v.load(at.at(pair[0], j)), at.at(pair[1], j)
		if i == 1 {
			t[j] = v.sum(x, y)
		} else {
			t[j] = v.difference(x, y)
		}
	}
	return t
}

// emitWinogradGrads writes the transform of tiles of 2×2 elements of the results' gradient.
func emitWinogradGrads(a *asm) {
	name := "winogradGrads" + a.isa.suffix()
	a.text(name, "func(v *float32, point, gap int, l0, l1 *float32, pixel, channels, count int)",
		name+" sets the 16 points of count tiles, each over 2 pixels of two lines; see winogradImages.")
	v := a.pointsAt("v", "point")
	l0, l1, pixel := a.arg("l0"), a.arg("l1"), a.arg("pixel")
	l := &tileLoop{asm: a, ptrs: append(append([]reg.Register{}, v.rows[:]...), l0, l1)}
	l.each("channels", func(c vectors) {
		load := func(base reg.Register) [2]vec {
			return [2]vec{c.load(operand.Mem{Base: base}), c.load(operand.Mem{Base: base, Index: pixel, Scale: 1})}
		}
		x, y := load(l0), load(l1)
		zero := a.zero()
		line := func(i int, f func(j int) vec) {
			t := [2]vec{f(0), f(1)}
			for j, p := range []vec{t[0], a.sumOf(t[0], t[1]), a.differenceOf(t[0], t[1]), a.differenceOf(zero, t[1])} {
				c.store(p, v.at(i, j))
			}
		}
		line(0, func(j int) vec { return x[j] })
		line(1, func(j int) vec { return a.sumOf(x[j], y[j]) })
		line(2, func(j int) vec { return a.differenceOf(x[j], y[j]) })
		line(3, func(j int) vec { return a.differenceOf(zero, y[j]) })
	}, func() {
		a.ADDQ(pixel, l0)
		a.ADDQ(pixel, l1)
		for i := range v.rows {
			a.ADDQ(a.inMemory("gap"), v.rows[i])
		}
	})
	a.end()
}

// emitWinogradResults writes the transform of points into tiles of 2×2 results.
func emitWinogradResults(a *asm) {
	name := "winogradResults" + a.isa.suffix()
	a.text(name, "func(y00, y01, y10, y11 *float32, skip int, m *float32, point int, bias *float32, outs, count int, check *float32)",
		name+" sets the results of count tiles from their 16 points, and adds bias; the results of a tile begin skip bytes after those "+
			"of the one before end. It sets a vector of check to zeros, or to NaN where a result is not finite.")
	m := a.pointsAt("m", "point")
	var y [4]reg.Register
	for i := range y {
		y[i] = a.arg(fmt.Sprintf("y%d%d", i/2, i%2))
	}
	bias := a.arg("bias")
	zero, check := a.zero(), a.zero()
	l := &tileLoop{asm: a, ptrs: append(append([]reg.Register{bias}, m.rows[:]...), y[:]...)}
	l.each("outs", func(v vectors) {
		var t [4][2]vec
		for i := range t {
			t[i] = v.resultLine(m, i)
		}
		added := v.load(operand.Mem{Base: bias})
		for j := range 2 {
			inner := a.sumOf(t[1][j], t[2][j])
			outer := a.differenceOf(a.differenceOf(t[1][j], t[2][j]), t[3][j])
			for i, sum := range []vec{a.sumOf(t[0][j], inner), outer} {
				sum = a.sumOf(sum, added)
				v.VFMADD231PS(sum, zero, check)
				v.store(sum, operand.Mem{Base: y[2*i+j]})
			}
		}
	}, func() {
		for i := range y {
			a.ADDQ(a.inMemory("skip"), y[i])
		}
		a.MOVQ(a.inMemory("bias"), bias)
	})
	p := a.arg("check")
	a.VMOVUPS(check, operand.Mem{Base: p})
	a.end()
}

// resultLine transforms line i of the points into the two columns of the results.
func (v vectors) resultLine(m points, i int) [2]vec {
	p0, p1, p2 := m.at(i, 0), m.at(i, 1), m.at(i, 2)
	x1 := v.load(p1)
	inner := v.sum(x1, p2)
	return [2]vec{v.sum(inner, p0), v.difference(v.difference(x1, p2), m.at(i, 3))}
}

// emitWinogradFilters writes the transform of filters of 3×3.
func emitWinogradFilters(a *asm) {
	name := "winogradFilters" + a.isa.suffix()
	a.text(name, "func(u *float32, point, row int, taps **float32, line, rows, width int)",
		name+" sets the 16 points of up to one vector of the columns of the filters, with zeros behind their width, for so many rows. Taps are 9 "+
			"addresses. Rows and points are so many bytes apart: the rows of u row, those of taps line.")
	mask := a.newTail(a.arg("width"))
	u := a.pointsAt("u", "point")
	taps, row, line, at, p := a.arg("taps"), a.arg("row"), a.arg("line"), a.GP64(), a.GP64()
	a.XORQ(at, at)
	half := a.inReg(a.stored(0.5)[0])
	a.Label("row")
	load := func(i, j int) vec {
		a.MOVQ(operand.Mem{Base: taps, Disp: 8 * (3*i + j)}, p)
		return mask.load(operand.Mem{Base: p, Index: at, Scale: 1})
	}
	store := func(i int, line [3]vec) {
		plus, minus := a.filterPoints(line, half)
		for j, v := range []vec{line[0], plus, minus, line[2]} {
			a.VMOVUPS(v, u.at(i, j))
		}
	}
	// The outer lines of points first: AVX2 has few registers.
	store(0, [3]vec{load(0, 0), load(0, 1), load(0, 2)})
	store(3, [3]vec{load(2, 0), load(2, 1), load(2, 2)})
	var first, second [3]vec
	for j := range 3 {
		first[j], second[j] = a.filterPoints([3]vec{load(0, j), load(1, j), load(2, j)}, half)
	}
	store(1, first)
	store(2, second)
	for i := range u.rows {
		a.ADDQ(row, u.rows[i])
	}
	a.ADDQ(line, at)
	a.DECQ(a.inMemory("rows"))
	a.JNZ(operand.LabelRef("row"))
	a.end()
}

// filterPoints are the two middle points of three elements of a filter; the outer ones are the first and the last element.
func (a *asm) filterPoints(g [3]vec, half vec) (plus, minus vec) {
	outer, inner := a.sumOf(g[0], g[2]), a.vec()
	a.VMULPS(half, outer, outer)
	a.VMULPS(half, g[1], inner)
	return a.sumOf(outer, inner), a.differenceOf(outer, inner)
}

// emitWinogradSums writes the transform of points into the gradient for filters of 3×3.
func emitWinogradSums(a *asm) {
	name := "winogradSums" + a.isa.suffix()
	a.text(name, "func(taps **float32, u *float32, point, n int, check *float32)",
		name+" sets n elements of each of 9 taps, which are addresses, from their 16 points, so many bytes apart. "+
			"It sets a vector of check to zeros, or to NaN where an element is not finite.")
	u := a.pointsAt("u", "point")
	taps, at, p := a.arg("taps"), a.GP64(), a.GP64()
	a.XORQ(at, at)
	l := &channelLoop{asm: a, left: a.arg("n"), ptrs: append(append([]reg.Register{}, u.rows[:]...), at)}
	half, zero, check := a.inReg(a.stored(0.5)[0]), a.zero(), a.zero()
	l.each(1, func(v vectors) {
		for i := range 3 {
			var line [4]vec
			for j := range line {
				line[j] = a.filterSum(i, func(i int) vec { return v.load(u.at(i, j)) }, half)
			}
			for j := range 3 {
				s := a.filterSum(j, func(j int) vec { return line[j] }, half)
				v.VFMADD231PS(s, zero, check)
				a.MOVQ(operand.Mem{Base: taps, Disp: 8 * (3*i + j)}, p)
				v.store(s, operand.Mem{Base: p, Index: at, Scale: 1})
			}
		}
	})
	a.MOVQ(a.inMemory("check"), p)
	a.VMOVUPS(check, operand.Mem{Base: p})
	a.end()
}

// filterSum is element i of a filter, from four points.
func (a *asm) filterSum(i int, u func(i int) vec, half vec) vec {
	var s vec
	if i == 1 {
		s = a.differenceOf(u(1), u(2))
	} else {
		s = a.sumOf(u(1), u(2))
	}
	a.VMULPS(half, s, s)
	switch i {
	case 0:
		return a.sumOf(u(0), s)
	case 2:
		return a.sumOf(s, u(3))
	}
	return s
}
