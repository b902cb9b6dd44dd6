package cluster

import (
	"math"
	"sort"

	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf/core"
)

// A seeder chooses points, the likelier the farther they are from those that it
// has chosen.
type seeder struct {
	points      []float32
	rows, width int
	half        []float32 // half of the squared lengths
	words       *stream.Words
	chosen      map[int]bool
	distances   []float32 // half the square of that to the nearest chosen point
	sums        []float32 // of distances up to a point
}

func newSeeder(points []float32, rows, width int, seed int64) *seeder {
	s := &seeder{
		points: points, rows: rows, width: width, half: halfSquares(points, rows, width),
		words: stream.NewWords(stream.New(seed, 0)), chosen: map[int]bool{},
		distances: core.Make[float32](rows), sums: core.Make[float32](rows),
	}
	for i := range s.distances {
		s.distances[i] = float32(math.Inf(1))
	}
	return s
}

// next returns the number of the best of some candidates.
func (s *seeder) next(retries int) int {
	if len(s.chosen) > 0 {
		sum := float32(0)
		for i, d := range s.distances {
			sum += d
			s.sums[i] = sum
		}
	}
	at, potential, distances := 0, float32(math.Inf(1)), s.distances
	for range 1 + retries {
		i := s.draw()
		d := s.nearer(min(i, s.rows-1))
		if p := total(d); retries == 0 || p < potential {
			at, potential, distances = i, p, d
		}
	}
	s.distances = distances
	at = min(at, s.rows-1)
	s.chosen[at] = true
	return at
}

// patience is how often a point that has been chosen may come again. It does so
// only by rounding: its distance is 0.
const patience = 1 << 10

// draw returns a candidate, by its distance; rows if all distances are 0.
func (s *seeder) draw() (i int) {
	if len(s.chosen) == 0 {
		return int(s.words.Below(uint64(s.rows)))
	}
	for range patience {
		v := s.words.Float32() * s.sums[s.rows-1]
		i = sort.Search(s.rows, func(k int) bool { return v < s.sums[k] })
		if !s.chosen[i] {
			break
		}
	}
	return i
}

// nearer returns the distances as they are once point k is chosen.
func (s *seeder) nearer(k int) []float32 {
	out, y := core.Make[float32](s.rows), s.points[k*s.width:(k+1)*s.width]
	for i := range out {
		x := s.points[i*s.width : (i+1)*s.width]
		out[i] = min(s.distances[i], s.half[i]-dot(x, y)+s.half[k])
	}
	return out
}

func total(v []float32) (sum float32) {
	for _, x := range v {
		sum += x
	}
	return sum
}
