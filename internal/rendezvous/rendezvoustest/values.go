package rendezvoustest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// plainTypes lists the types whose elements are bytes in a buffer.
func plainTypes() []core.DType {
	var out []core.DType
	for d := core.DType(1); d < 100; d++ {
		if d.Size() > 0 {
			out = append(out, d)
		}
	}
	return out
}

// shapes lists shapes that encodings treat differently.
var shapes = []core.Shape{{}, {1}, {7}, {0}, {3, 0, 2}, {2, 3}, {1, 2, 1, 3, 1, 2}, {1, 1, 1, 1, 1, 1, 1, 2}, {70000}, {300, 2, 3}}

// random returns a tensor with arbitrary elements, the same for the same seed.
func random(d core.DType, s core.Shape, seed uint64) *core.Tensor {
	r := rand.New(rand.NewPCG(seed, uint64(d)))
	buf := memory.New(s.NumElements() * d.Size())
	fill(buf.Bytes(), r)
	if d == core.Bool {
		for i := range buf.Bytes() {
			buf.Bytes()[i] &= 1
		}
	}
	return core.TensorOf(d, s, buf)
}

func fill(b []byte, r *rand.Rand) {
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, r.Uint64())
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func scalar(v int64) *core.Tensor { return core.Scalar(v) }

// diff describes how a tensor differs from the one that was sent.
func diff(want, got *core.Tensor) string {
	switch {
	case got == nil:
		return "no tensor"
	case want.DType() != got.DType() || !want.Shape().Equal(got.Shape()):
		return fmt.Sprintf("%v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	case want.DType() == core.String && !slices.Equal(core.Data[string](want), core.Data[string](got)):
		return fmt.Sprintf("%v, want %v", got, want)
	case want.Buffer() != nil && !bytes.Equal(want.Buffer().Bytes(), got.Buffer().Bytes()):
		return fmt.Sprintf("%v, want %v, or later elements differ", got, want)
	}
	return ""
}
