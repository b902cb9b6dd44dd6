package pool

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// MaxPoolSelect sets y to those elements of d that lie where the first element of x is in each
// window that equals the one of greatest, 0 where there is none.
func MaxPoolSelect[T numeric.Real](par kernel.Par, v *Pool, y, d, x, greatest []T) {
	if len(y) == 0 {
		return
	}
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		found := make([]bool, v.C)
		v.eachWindow(lo, hi, func(i int, t *covered) {
			to, want := y[i*v.C:(i+1)*v.C], greatest[i*v.C:(i+1)*v.C]
			clear(to)
			clear(found)
			for _, line := range t.lines {
				for k := range t.n {
					at := (line + t.first + k*t.step) * v.C
					keepEqual(to, found, d[at:at+v.C], x[at:at+v.C], want)
				}
			}
		})
	})
}

// keepEqual puts elements of d into y where x is what is wanted, and has not been found before.
func keepEqual[T numeric.Real](y []T, found []bool, d, x, want []T) {
	for c, v := range x {
		if !found[c] && v == want[c] {
			y[c], found[c] = d[c], true
		}
	}
}
