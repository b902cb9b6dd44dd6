package linalg

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// A bidiagonal is the iteration that turns an upper bidiagonal matrix with the diagonals d and e
// into its singular values: LAPACK's dbdsqr (Demmel and Kahan, 1990), which finds even the least
// of them to full precision. It rotates rows of u and v, which lie in memory without gaps.
type bidiagonal struct {
	d, e      []float64
	u, v      turns
	threshold float64 // elements of e up to that are as good as 0
	// lo and hi are the block of the last step, which goes from the end with the greater element
	// to the other; flipped says that this is upwards.
	lo, hi  int
	flipped bool
}

const (
	bidiagonalEps = 0x1p-53
	bidiagonalTol = 98.7 * bidiagonalEps // what is lost of each singular value
)

// bidiagonalSVD turns d and e into singular values d, in descending order, and applies to the
// rows of u and v, which begin as those of identities, what makes them the singular vectors. It
// reports false if it does not converge.
func bidiagonalSVD(d, e []float64, u, v matrix[float64]) bool {
	const steps = 6 // times n² elements, as in LAPACK
	n := len(d)
	if n == 0 {
		return true
	}
	b := &bidiagonal{d: d, e: e, u: newTurns(u), v: newTurns(v), lo: n, hi: -1}
	left := steps * n * n
	b.threshold = max(bidiagonalTol*b.leastValue()/math.Sqrt(float64(n)), float64(left)*0x1p-1022)
	for end := n - 1; end > 0; {
		start := b.blockStart(end)
		switch end - start {
		case 0:
			end--
		case 1:
			b.solvePair(start)
			end -= 2
		default:
			if left -= end - start; left < 0 {
				return false
			}
			b.step(start, end)
		}
	}
	b.u.flush()
	b.v.flush()
	b.sort()
	return true
}

// leastValue returns a lower bound of the singular values, times √n.
func (b *bidiagonal) leastValue() float64 {
	mu := math.Abs(b.d[0])
	least := mu
	for i := 1; i < len(b.d) && least > 0; i++ {
		mu = math.Abs(b.d[i]) * (mu / (mu + math.Abs(b.e[i-1])))
		least = min(least, mu)
	}
	return least
}

// blockStart returns where the block that ends at row end begins.
func (b *bidiagonal) blockStart(end int) int {
	for end > 0 {
		if math.Abs(b.e[end-1]) <= b.threshold {
			b.e[end-1] = 0
			break
		}
		end--
	}
	return end
}

// solvePair makes a block of two rows diagonal.
func (b *bidiagonal) solvePair(i int) {
	least, most, sinV, cosV, sinU, cosU := solver64.Dlasv2(b.d[i], b.e[i], b.d[i+1])
	b.d[i], b.e[i], b.d[i+1] = most, 0, least
	b.v.add(i, i+1, cosV, sinV)
	b.u.add(i, i+1, cosU, sinU)
}

// step makes an element beside the diagonal of a block 0 if one is as good as that, or less.
// A block that is flipped is its transpose, last row first, meanwhile.
func (b *bidiagonal) step(lo, hi int) {
	if lo > b.hi || hi < b.lo {
		b.flipped = math.Abs(b.d[lo]) < math.Abs(b.d[hi])
	}
	b.lo, b.hi = lo, hi
	s := bidiagonalSweep{d: b.d[lo : hi+1], e: b.e[lo:hi], left: &b.u, right: &b.v, first: lo, by: 1}
	if b.flipped {
		s.left, s.right, s.first, s.by = &b.v, &b.u, hi, -1
		slices.Reverse(s.d)
		slices.Reverse(s.e)
	}
	if least, ok := s.least(); ok {
		if shift := s.shift(least, len(b.d)); shift == 0 {
			s.withoutShift()
		} else {
			s.withShift(shift)
		}
	}
	if b.flipped {
		slices.Reverse(s.d)
		slices.Reverse(s.e)
	}
}

// sort makes the singular values positive and sorts them and the rows of u and v.
func (b *bidiagonal) sort() {
	for i, x := range b.d {
		if math.Signbit(x) {
			b.d[i] = -x
			b.v.z.part(i, 0, 1, b.v.z.cols).negate()
		}
	}
	for i := range b.d {
		most := i
		for j := i + 1; j < len(b.d); j++ {
			if b.d[j] > b.d[most] {
				most = j
			}
		}
		if most != i {
			b.d[i], b.d[most] = b.d[most], b.d[i]
			b.u.z.swapRows(i, most)
			b.v.z.swapRows(i, most)
		}
	}
}

// A bidiagonalSweep is a step on a block from its first row to the last.
type bidiagonalSweep struct {
	d, e        []float64
	left, right *turns
	first, by   int // row i of the block is row first+i·by
}

// rotate turns rows k and k+1 of the block.
func (s *bidiagonalSweep) rotate(r *turns, k int, cos, sin float64) {
	at := s.first + k*s.by
	r.add(at, at+s.by, cos, sin)
}

// least returns a lower bound of the singular values. It reports false if it has set an element
// beside the diagonal to 0.
func (s *bidiagonalSweep) least() (least float64, ok bool) {
	last := len(s.e) - 1
	if math.Abs(s.e[last]) <= bidiagonalTol*math.Abs(s.d[last+1]) {
		s.e[last] = 0
		return 0, false
	}
	mu := math.Abs(s.d[0])
	least = mu
	for i, e := range s.e {
		if math.Abs(e) <= bidiagonalTol*mu {
			s.e[i] = 0
			return 0, false
		}
		mu = math.Abs(s.d[i+1]) * (mu / (mu + math.Abs(e)))
		least = min(least, mu)
	}
	return least, true
}

// shift returns the lesser singular value of the last two rows, or 0 if that would spoil the
// least ones.
func (s *bidiagonalSweep) shift(least float64, n int) float64 {
	most, last := math.Abs(s.d[len(s.e)]), len(s.e)-1
	for i, e := range s.e {
		most = max(most, math.Abs(e), math.Abs(s.d[i]))
	}
	if float64(n)*bidiagonalTol*(least/most) <= max(bidiagonalEps, bidiagonalTol/100) {
		return 0
	}
	shift, _ := solver64.Dlas2(s.d[last], s.e[last], s.d[last+1])
	if q := shift / math.Abs(s.d[0]); q*q < bidiagonalEps {
		return 0
	}
	return shift
}

// withoutShift is a step of the QR iteration that is exact for each singular value.
func (s *bidiagonalSweep) withoutShift() {
	d, e, last := s.d, s.e, len(s.e)
	cos, oldCos, sin, oldSin, r := 1.0, 1.0, 0.0, 0.0, 0.0
	for i := range e {
		cos, sin, r = givens(d[i]*cos, e[i])
		if i > 0 {
			e[i-1] = oldSin * r
		}
		oldCos, oldSin, d[i] = givens(oldCos*r, d[i+1]*sin)
		s.rotate(s.right, i, cos, sin)
		s.rotate(s.left, i, oldCos, oldSin)
	}
	h := d[last] * cos
	d[last], e[last-1] = h*oldCos, h*oldSin
}

// withShift is a step of the QR iteration.
func (s *bidiagonalSweep) withShift(shift float64) {
	d, e := s.d, s.e
	f := (math.Abs(d[0]) - shift) * (math.Copysign(1, d[0]) + shift/d[0])
	g := e[0]
	for i := range e {
		cos, sin, r := givens(f, g)
		if i > 0 {
			e[i-1] = r
		}
		f, e[i] = cos*d[i]+sin*e[i], cos*e[i]-sin*d[i]
		g, d[i+1] = sin*d[i+1], cos*d[i+1]
		s.rotate(s.right, i, cos, sin)
		cos, sin, d[i] = givens(f, g)
		f, d[i+1] = cos*e[i]+sin*d[i+1], cos*d[i+1]-sin*e[i]
		if i+1 < len(e) {
			g, e[i+1] = sin*e[i+1], cos*e[i+1]
		}
		s.rotate(s.left, i, cos, sin)
	}
	e[len(e)-1] = f
}

// givens returns the rotation that turns (f, g) into (r, 0).
func givens(f, g float64) (cos, sin, r float64) {
	if g == 0 {
		return 1, 0, f
	}
	r = math.Sqrt(f*f + g*g)
	if !(0x1p-500 < r && r < 0x1p500) { // squares may be too great or too small
		r = math.Hypot(f, g)
	}
	return f / r, g / r, r
}

// The turns are a list of rotations of rows of z that are still to be done.
type turns struct {
	z    matrix[float64]
	list []turn
}

type turn struct {
	x, y     int
	cos, sin float64
}

// newTurns has room for the rotations of some sweeps. They are done to some columns at a time,
// which stay in the cache meanwhile.
func newTurns(z matrix[float64]) turns {
	const sweeps = 8
	return turns{z, make([]turn, 0, sweeps*z.rows)}
}

// add turns the rows (x, y) into (cos·x + sin·y, cos·y - sin·x).
func (r *turns) add(x, y int, cos, sin float64) {
	if r.z.cols == 0 || sin == 0 && cos == 1 {
		return
	}
	if r.list = append(r.list, turn{x, y, cos, sin}); len(r.list) == cap(r.list) {
		r.flush()
	}
}

func (r *turns) flush() {
	const least, cached = 32, 32 << 10 // columns, elements
	columns := max(least, cached/max(1, r.z.rows))
	for j := 0; j < r.z.cols; j += columns {
		z := r.z.part(0, j, r.z.rows, min(columns, r.z.cols-j))
		for _, by := range r.list {
			elementwise.Rotate(z.row(by.x), z.row(by.y), by.cos, by.sin)
		}
	}
	r.list = r.list[:0]
}
