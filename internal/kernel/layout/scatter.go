package layout

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// shortRow is the width from which a row is worth the call of a loop of its own.
const shortRow = 16

// ScatterAdd adds rows in order: dst[idx[i],:] += src[i,:]. Negative indices
// are left out.
func ScatterAdd[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	switch {
	case inner >= shortRow:
		scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Add(d, d, s) })
		return
	case inner == 1: // sums of ids and of biases, often
		src = src[:len(idx)]
		for i, k := range idx {
			if k >= 0 {
				dst[k] += src[i]
			}
		}
		return
	}
	for i, k := range idx {
		if k >= 0 {
			z, x := dst[int(k)*inner:][:inner], src[i*inner:][:inner]
			for j := range z {
				z[j] = z[j] + x[j]
			}
		}
	}
}

// ScatterSub subtracts rows in order.
func ScatterSub[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner >= shortRow {
		scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Sub(d, d, s) })
		return
	}
	for i, k := range idx {
		if k >= 0 {
			z, x := dst[int(k)*inner:][:inner], src[i*inner:][:inner]
			for j := range z {
				z[j] = z[j] - x[j]
			}
		}
	}
}

// ScatterMul multiplies rows in order.
func ScatterMul[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner >= shortRow {
		scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Mul(d, d, s) })
		return
	}
	for i, k := range idx {
		if k >= 0 {
			z, x := dst[int(k)*inner:][:inner], src[i*inner:][:inner]
			for j := range z {
				z[j] = z[j] * x[j]
			}
		}
	}
}

// ScatterDiv divides rows in order.
func ScatterDiv[T numeric.Inexact, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner >= shortRow {
		scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Div(d, d, s) })
		return
	}
	for i, k := range idx {
		if k >= 0 {
			z, x := dst[int(k)*inner:][:inner], src[i*inner:][:inner]
			for j := range z {
				z[j] = z[j] / x[j]
			}
		}
	}
}

// ScatterMax keeps the greater of both rows.
func ScatterMax[T numeric.Real, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner >= shortRow {
		scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Max(d, d, s) })
		return
	}
	for i, k := range idx {
		if k >= 0 {
			z, x := dst[int(k)*inner:][:inner], src[i*inner:][:inner]
			for j := range z {
				z[j] = elementwise.GreaterOf(z[j], x[j])
			}
		}
	}
}

// ScatterMin keeps the lesser of both rows.
func ScatterMin[T numeric.Real, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner >= shortRow {
		scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Min(d, d, s) })
		return
	}
	for i, k := range idx {
		if k >= 0 {
			z, x := dst[int(k)*inner:][:inner], src[i*inner:][:inner]
			for j := range z {
				z[j] = elementwise.LesserOf(z[j], x[j])
			}
		}
	}
}

// ScatterUpdate overwrites rows in order.
func ScatterUpdate[T any, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { copy(d, s) })
}

func scatter[T any, I numeric.Index](dst, src []T, idx []I, inner int, f func(d, s []T)) {
	far := kernel.Far(dst)
	for i, k := range idx {
		if next := i + kernel.RowsAhead; far && next < len(idx) && idx[next] >= 0 {
			d := int(idx[next]) * inner
			kernel.Prefetch(dst[d : d+inner])
		}
		if k >= 0 {
			d := int(k) * inner
			f(dst[d:d+inner], src[i*inner:(i+1)*inner])
		}
	}
}
