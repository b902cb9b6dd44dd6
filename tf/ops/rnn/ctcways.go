package rnn

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf/core"
)

// logSums adds numbers up that are given by their logarithms, three for each place, by vector loops over all places.
type logSums struct {
	of       [3][]float64 // the logarithms, which are lost
	greatest []float64
	all      []float64 // of, one after the other
}

func newLogSums(places int) *logSums {
	room := core.Make[float64](4 * places)
	l := &logSums{greatest: room[3*places:], all: room[:3*places]}
	for i := range l.of {
		l.of[i] = room[i*places : (i+1)*places]
	}
	return l
}

// leastLog stands for the logarithm of 0 where it is subtracted: a difference of infinities is not a number.
const leastLog = -1e300

// sum sets the first elements of dst to the logarithms of the sums.
func (l *logSums) sum(dst []float64) {
	for u := range dst {
		m := max(l.of[0][u], l.of[1][u], l.of[2][u], leastLog)
		l.greatest[u] = m
		l.of[0][u] -= m
		l.of[1][u] -= m
		l.of[2][u] -= m
	}
	elementwise.Exp(l.all, l.all)
	for u := range dst {
		dst[u] = l.of[0][u] + l.of[1][u] + l.of[2][u]
	}
	elementwise.Log(dst, dst)
	for u := range dst {
		dst[u] += l.greatest[u]
	}
}

// findMoves finds where ways may stay and skip.
func (s *ctcSequence) findMoves() {
	n := len(s.path)
	s.stays, s.skips = core.Make[float64](n), core.Make[float64](n)
	for u, l := range s.path {
		s.stays[u], s.skips[u] = math.Inf(-1), math.Inf(-1)
		if s.merge || l == s.blank {
			s.stays[u] = 0
		}
		if u+2 < n && s.path[u+2] != s.blank && !(s.merge && l == s.path[u+2]) {
			s.skips[u] = 0
		}
	}
}

// logLabels looks the logarithms of a step's probabilities up, by place.
func (s *ctcSequence) logLabels(t int) {
	probs, out := s.probs[t*s.classes:], s.labels[t*len(s.path):][:len(s.path)]
	for u, l := range s.path {
		out[u] = probs[l]
	}
	elementwise.Log(out, out)
}

// span returns the places that can be reached at step t in time for the last.
func (s *ctcSequence) span(t int) (lo, hi int) {
	n := len(s.path)
	return max(0, n-2*(s.steps-t)), min(n, 2*(t+1))
}

// forward sums up the ways from the first step.
func (s *ctcSequence) forward() {
	n, of := len(s.path), &s.joined.of
	kernel.Fill(s.alpha, math.Inf(-1))
	copy(s.alpha[:min(2, n)], s.labels)
	for t := 1; t < s.steps; t++ {
		before, now, p := s.alpha[(t-1)*n:t*n], s.alpha[t*n:(t+1)*n], s.labels[t*n:(t+1)*n]
		for i := range of {
			kernel.Fill(of[i][:min(i, n)], math.Inf(-1))
		}
		for u, v := range before {
			of[0][u] = v + s.stays[u]
			if u+1 < n {
				of[1][u+1] = v
			}
			if u+2 < n {
				of[2][u+2] = v + s.skips[u]
			}
		}
		s.joined.sum(now)
		for u := range now {
			now[u] += p[u]
		}
		s.keepSpan(now, t)
	}
}

// backward sums up the ways to the last step.
func (s *ctcSequence) backward() {
	n, of := len(s.path), &s.joined.of
	kernel.Fill(s.beta, math.Inf(-1))
	clear(s.beta[(s.steps-1)*n+max(0, n-2):])
	for t := s.steps - 2; t >= 0; t-- {
		now, next, p := s.beta[t*n:(t+1)*n], s.beta[(t+1)*n:(t+2)*n], s.labels[(t+1)*n:(t+2)*n]
		for i := range of {
			kernel.Fill(of[i][max(0, n-i):], math.Inf(-1))
		}
		for u, v := range next {
			v += p[u]
			of[0][u] = v + s.stays[u]
			if u > 0 {
				of[1][u-1] = v
			}
			if u > 1 {
				of[2][u-2] = v + s.skips[u-2]
			}
		}
		s.joined.sum(now)
		s.keepSpan(now, t)
	}
}

// keepSpan forgets the ways that do not reach the last step in time.
func (s *ctcSequence) keepSpan(now []float64, t int) {
	lo, hi := s.span(t)
	kernel.Fill(now[:lo], math.Inf(-1))
	kernel.Fill(now[hi:], math.Inf(-1))
}

// total returns the logarithm of the sum of all ways.
func (s *ctcSequence) total() float64 {
	p := math.Inf(-1)
	for u := range s.path {
		p = logAdd(p, s.alpha[u]+s.beta[u])
	}
	return p
}

// gradient returns the gradient at step t, in the place of the probabilities:
// what a class is probable less what part of the ways goes through it.
func (s *ctcSequence) gradient(t int, total float64) []float64 {
	n, dx := len(s.path), s.probs[t*s.classes:][:s.classes]
	if math.IsInf(total, -1) {
		return dx
	}
	ways := s.joined.greatest
	for u := range ways {
		ways[u] = s.alpha[t*n+u] + s.beta[t*n+u] - total
	}
	elementwise.Exp(ways, ways)
	for u, l := range s.path {
		dx[l] -= ways[u]
	}
	return dx
}
