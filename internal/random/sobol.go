package random

import (
	_ "embed"
	"math/bits"
	"sync"

	"github.com/gorge-tf/gorge/internal/memory"
)

// sobolFile holds, for each of sobolFileRows dimensions behind the first, what its direction
// numbers follow from, as S. Joe and F. Y. Kuo chose it (new-joe-kuo-6, SIAM J. Sci. Comput.
// 30, 2008): a polynomial of degree s without its first and last coefficient, and m_1 to
// m_s. The bits of a row, of each number the highest first:
//   - 1 if s is one more than before, 0 if not; before the first row it is 0;
//   - how many polynomials of degree s are left out since the last one: a 1 for each eight,
//     a 0, and the rest in three bits;
//   - m_i/2 in i-1 bits, for m_i is odd and less than 1<<i.
//
//go:embed sobol.bits
var sobolFile string

const sobolFileRows = 21199

// sobolDigits bounds the binary digits of points.
const sobolDigits = 31

// A sobolRow holds the first direction numbers of a dimension and the
// recurrence for those that follow.
type sobolRow struct {
	polynomial uint32
	initial    []uint32
}

// A bitString is read from its beginning.
type bitString struct {
	data string
	at   int
}

func (b *bitString) next(n int) (v uint32) {
	for range n {
		v = v<<1 | uint32(b.data[b.at/8]>>(7-b.at%8)&1)
		b.at++
	}
	return v
}

var sobolRows = sync.OnceValue(func() []sobolRow {
	rows := make([]sobolRow, 1, 1+sobolFileRows) // of the first dimension all numbers are 1
	b, degree, polynomial := bitString{data: sobolFile}, 0, uint32(0)
	for range sobolFileRows {
		if b.next(1) == 1 {
			degree++
			polynomial = 0
		}
		for b.next(1) == 1 {
			polynomial += 8
		}
		polynomial += b.next(3)
		r := sobolRow{polynomial, make([]uint32, degree)}
		for i := range r.initial {
			r.initial[i] = b.next(i)<<1 | 1
		}
		rows = append(rows, r)
		polynomial++
	}
	return rows
})

// MaxSobolDim returns the greatest dimension of points of a Sobol sequence.
func MaxSobolDim() int { return len(sobolRows()) }

// A Sobol computes points of the Sobol sequence in the unit cube.
type Sobol struct {
	digits     int
	directions [][]uint32 // by digit, then by dimension
	point      []uint32
	n          uint32
}

// NewSobol returns the sequence from point first on, of which up to last will
// be asked for; both lie below 1<<31. Point 0, the origin, is not used.
func NewSobol(dim int, first, last uint32) *Sobol {
	s := &Sobol{digits: min(max(bits.Len32(last), 1), sobolDigits), point: memory.Make[uint32](dim), n: first}
	s.directions = make([][]uint32, s.digits)
	for k := range s.directions {
		s.directions[k] = memory.Make[uint32](dim)
	}
	for j, r := range sobolRows()[:dim] {
		for k, m := range r.numbers(s.digits) {
			s.directions[k][j] = m << (s.digits - 1 - k)
		}
	}
	s.seek()
	return s
}

// numbers returns the first direction numbers.
func (r sobolRow) numbers(digits int) []uint32 {
	m, s := memory.Make[uint32](digits), len(r.initial)
	if s == 0 {
		for k := range m {
			m[k] = 1
		}
		return m
	}
	copy(m, r.initial)
	for k := s; k < digits; k++ {
		m[k] = m[k-s] ^ m[k-s]<<s
		for i := 1; i < s; i++ {
			if r.polynomial>>(s-1-i)&1 != 0 {
				m[k] ^= m[k-i] << i
			}
		}
	}
	return m
}

// seek computes point n from the digits of its Gray code.
func (s *Sobol) seek() {
	gray := s.n ^ s.n>>1
	for k, row := range s.directions {
		if gray>>k&1 != 0 {
			s.flip(row)
		}
	}
}

func (s *Sobol) flip(row []uint32) {
	for j := range s.point {
		s.point[j] ^= row[j]
	}
}

// Next moves on: the Gray codes of neighbours differ in the digit of the first
// zero.
func (s *Sobol) Next() {
	if k := bits.TrailingZeros32(^s.n); k < s.digits {
		s.flip(s.directions[k])
	}
	s.n++
}

// Coordinate returns coordinate j of the point as a fraction of 1<<digits.
func (s *Sobol) Coordinate(j int) (numerator uint32, digits int) { return s.point[j], s.digits }
