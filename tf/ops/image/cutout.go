package image

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf/core"
)

// cutOut sets the crops of boxes [lo, hi) in y.
func (v *crop) cutOut(lo, hi int, y, x []float32, beyond float32) {
	h, size, width := v.out[1], v.out[2]*v.out[3], v.image[2]*v.image[3]
	cols := core.Make[between](v.out[2])
	for b := lo; b < hi; b++ {
		down, image := v.lines(b, cols), x[int(v.of[b])*v.image[1]*width:]
		for i := range h {
			dst, row := y[(b*h+i)*size:][:size], v.place(down.at(i), v.image[1])
			if row.outside {
				kernel.Fill(dst, beyond)
				continue
			}
			if v.nearest {
				pickRow(dst, image[row.before*width:][:width], cols, beyond)
				continue
			}
			blendRow(dst, image[row.before*width:][:width], image[row.after*width:][:width], cols, row.share, beyond)
		}
	}
}

// blendRow sets dst to pixels between those of two rows of an image.
func blendRow(dst, top, bottom []float32, cols []between, dy, beyond float32) {
	depth := len(dst) / len(cols)
	for i := range cols {
		to, col := dst[i*depth:][:depth], &cols[i]
		if col.outside {
			kernel.Fill(to, beyond)
			continue
		}
		l, r := col.before*depth, col.after*depth
		tl, tr, bl, br := top[l:][:depth], top[r:][:depth], bottom[l:][:depth], bottom[r:][:depth]
		for ch := range to {
			above := tl[ch] + float32((tr[ch]-tl[ch])*col.share)
			below := bl[ch] + float32((br[ch]-bl[ch])*col.share)
			to[ch] = above + float32((below-above)*dy)
		}
	}
}

// pickRow sets dst to pixels of a row of an image. None is computed: a difference of equal
// infinities would be NaN.
func pickRow(dst, row []float32, cols []between, beyond float32) {
	depth := len(dst) / len(cols)
	for i, col := range cols {
		to := dst[i*depth:][:depth]
		if col.outside {
			kernel.Fill(to, beyond)
			continue
		}
		copy(to, row[col.before*depth:])
	}
}
