package descent

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// The functions of this file are updates that leave the old values as they are and
// write the new ones to other memory. The caches are passed by: what is written is
// not read first, as it is by ordinary stores, and takes nothing's place. On data that
// exceed the caches they are about as fast as updates in place. Results have the bits of
// the updates in place. Memory of z that overlaps other arguments is not allowed.

// streamAlign is the alignment in bytes that the vector loops of this file need.
const streamAlign = 64

// aligned reports whether all slices begin at a multiple of streamAlign.
func aligned(zs ...[]float32) bool {
	for _, z := range zs {
		if uintptr(unsafe.Pointer(unsafe.SliceData(z)))%streamAlign != 0 {
			return false
		}
	}
	return true
}

// StreamAdd sets z = x + y.
func StreamAdd(z, x, y []float32) { streamZip(simd.streamAdd, elementwise.Add, z, x, y) }

// StreamSub sets z = x - y.
func StreamSub(z, x, y []float32) { streamZip(simd.streamSub, elementwise.Sub, z, x, y) }

func streamZip(stream, plain kernel.BinaryLoop, z, x, y []float32) {
	if stream == nil || !aligned(z) {
		plain(z, x, y)
		return
	}
	stream(z, x[:len(z)], y[:len(z)])
}

// StreamAxpy sets z = y + a·x.
func StreamAxpy(z, y []float32, a float32, x []float32) {
	if simd.streamAxpy == nil || !aligned(z) {
		copy(z, y[:len(z)])
		Axpy(z, a, x)
		return
	}
	simd.streamAxpy(z, y[:len(z)], a, x[:len(z)])
}

// StreamMomentum is [Momentum] from v and m to zv and zm.
func StreamMomentum(zv, zm, v, m, g []float32, lr, momentum float32) {
	n := len(zv)
	if simd.streamMomentum == nil || !aligned(zv, zm) {
		copy(zv, v[:n])
		copy(zm, m[:n])
		Momentum(zv, zm, g, lr, momentum)
		return
	}
	simd.streamMomentum(zv, zm[:n], v[:n], m[:n], g[:n], lr, momentum)
}

// StreamAdam is [Adam] from v, m and s to zv, zm and zs.
func StreamAdam(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32]) {
	n := len(zv)
	if simd.streamAdam == nil || p.Nesterov || !aligned(zv, zm, zs) {
		copy(zv, v[:n])
		copy(zm, m[:n])
		copy(zs, s[:n])
		Adam(zv, zm, zs, g, p)
		return
	}
	simd.streamAdam(zv, zm[:n], zs[:n], v[:n], m[:n], s[:n], g[:n], p)
}
