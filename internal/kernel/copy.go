package kernel

// View places an n-dimensional block inside a slice: the offset of its first
// element and the distance between neighbours along each dimension, which may
// be negative or 0.
type View struct {
	Offset int
	Steps  []int
}

// Dense is the view of a whole row-major tensor.
func Dense(shape []int) View { return View{Steps: Strides(shape)} }

// CopyView copies a block of this shape from one view to another. It serves
// slices, strided slices and their gradients, padding and reversal.
func CopyView[T any](dst []T, to View, src []T, from View, shape []int) {
	if product(shape) == 0 {
		return
	}
	if len(shape) == 0 {
		dst[to.Offset] = src[from.Offset]
		return
	}
	n, t, f := shape[0], to.Steps[0], from.Steps[0]
	if len(shape) == 1 {
		copyRun(dst, to.Offset, t, src, from.Offset, f, n)
		return
	}
	for i := range n {
		CopyView(dst, View{to.Offset + i*t, to.Steps[1:]}, src, View{from.Offset + i*f, from.Steps[1:]}, shape[1:])
	}
}

func copyRun[T any](dst []T, d, dstep int, src []T, s, sstep, n int) {
	if dstep == 1 && sstep == 1 {
		copy(dst[d:d+n], src[s:s+n])
		return
	}
	for range n {
		dst[d] = src[s]
		d += dstep
		s += sstep
	}
}

// Pad sets dst, of shape src's plus before and after, to v around src.
func Pad[T any](dst, src []T, shape, before, after []int, v T) {
	out := make([]int, len(shape))
	for i, n := range shape {
		out[i] = before[i] + n + after[i]
	}
	to := Dense(out)
	for i, b := range before {
		to.Offset += b * to.Steps[i]
	}
	Fill(dst[:product(out)], v)
	CopyView(dst, to, src, Dense(shape), shape)
}

// Concat joins parts along a dimension: part k is outer × widths[k], with
// widths counting the dimension and everything inside it.
func Concat[T any](dst []T, parts [][]T, outer int, widths []int) {
	at := 0
	for o := range outer {
		for k, w := range widths {
			copy(dst[at:at+w], parts[k][o*w:(o+1)*w])
			at += w
		}
	}
}

// Split is the inverse of Concat.
func Split[T any](parts [][]T, src []T, outer int, widths []int) {
	at := 0
	for o := range outer {
		for k, w := range widths {
			copy(parts[k][o*w:(o+1)*w], src[at:at+w])
			at += w
		}
	}
}

// Tile repeats src as often along each dimension as multiples says.
func Tile[T any](par Par, dst, src []T, shape, multiples []int) {
	var out, in []int
	for i, n := range shape {
		out = append(out, multiples[i], n)
		in = append(in, 1, n)
	}
	b, _ := NewBroadcastTo(out, in)
	CopyBroadcast(par, b, dst, src)
}
