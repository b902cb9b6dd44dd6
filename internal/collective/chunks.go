package collective

import "github.com/gorge-tf/gorge/tf/core"

// alignment is what chunks of a reduction begin at multiples of: TensorFlow's
// tasks compute them alike, so it is theirs.
const alignment = 64

// chunks cut elements in pieces of equal size, the last of which may be shorter
// or empty.
type chunks struct{ total, each int }

// alignedChunks cuts n elements of a type in k pieces.
func alignedChunks(n int, d core.DType, k int) chunks {
	size := d.Size()
	each := (n + k - 1) / k
	bytes := each * size
	if bytes < alignment {
		each += (alignment - bytes) / size
	} else {
		each += (alignment - bytes%alignment) / size // a whole one more if it fits
	}
	return chunks{n, each}
}

// span returns where piece i begins and how long it is.
func (c chunks) span(i int) (at, n int) {
	at = min(i*c.each, c.total)
	return at, min(c.each, c.total-at)
}

// of returns piece i of t.
func (c chunks) of(t *core.Tensor, i int) span {
	at, n := c.span(i)
	return span{t, at, n}
}
