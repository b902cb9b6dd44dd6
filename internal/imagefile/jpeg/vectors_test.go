package jpeg

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// onLevels calls f for the loops of each level that the machine has. It must give the same.
func onLevels(t *testing.T, what string, f func() []byte) {
	t.Helper()
	defer kernel.Use(kernel.Levels()[0])
	var want []byte
	levels := kernel.Levels()
	slices.Reverse(levels)
	for i, l := range levels {
		kernel.Use(l)
		if got := f(); i == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Fatalf("%s: %v gives %v, %v %v", what, l, got, levels[0], want)
		}
	}
}

// randomBlock has small values, large ones, zeros, or one row only.
func randomBlock(r *rand.Rand) (b [64]int16) {
	size := []int{4, 200, 1 << 16}[r.IntN(3)]
	n := []int{1, 8, 64}[r.IntN(3)]
	for i := range n {
		if r.IntN(3) > 0 {
			b[i] = int16(r.IntN(size) - size/2)
		}
	}
	return b
}

// TestTransformLoops: values that overflow, too.
func TestTransformLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const stride = 13
	for range 4000 {
		b := randomBlock(r)
		c := &component{size: 8, pitch: stride, quant: &[64]uint16{}}
		for i := range c.quant {
			c.quant[i] = uint16(r.IntN([]int{2, 256, 1 << 16}[r.IntN(3)]))
		}
		for _, accurate := range []bool{false, true} {
			onLevels(t, "a transform", func() []byte {
				c.plane = make([]byte, 7*stride+8+1)
				(&frame{accurate: accurate}).transform(&b, c, 0, 0)
				return c.plane
			})
		}
	}
}

// TestRowLoops: rows of all lengths, and nothing is written behind them.
func TestRowLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 2; n < 120; n++ {
		rows := [3][]byte{make([]byte, n), make([]byte, n), make([]byte, n)}
		for _, row := range rows {
			for i := range row {
				row[i] = byte(r.Uint32())
			}
		}
		onLevels(t, "wide", func() []byte {
			dst := make([]byte, 2*n+40)
			wide(dst, rows[0])
			return dst
		})
		onLevels(t, "square", func() []byte {
			dst := make([]byte, 2*n+40)
			square(dst, rows[0], rows[1])
			return dst
		})
		onLevels(t, "convertYCC", func() []byte {
			dst := make([]byte, 3*n+40)
			convertYCC(dst[:3*n], rows[0], rows[1], rows[2])
			return dst
		})
	}
}

// TestColorLoop: all colors that luma in steps of 5 and chroma make.
func TestColorLoop(t *testing.T) {
	var y, cb, cr []byte
	for l := 0; l < 256; l += 5 {
		for u := range 256 {
			for v := range 256 {
				y, cb, cr = append(y, byte(l)), append(cb, byte(u)), append(cr, byte(v))
			}
		}
	}
	onLevels(t, "colors", func() []byte {
		dst := make([]byte, 3*len(y))
		convertYCC(dst, y, cb, cr)
		return dst
	})
}

// TestUsedMemory: what a file before has left in the memory of planes is not seen.
func TestUsedMemory(t *testing.T) {
	for _, e := range []Encoding{{Quality: 90, Subsample: true}, {Quality: 60, Progressive: true}, {Quality: 95}} {
		file := encoded(t, 61, 83, 3, e)
		for _, data := range []string{file, file[:len(file)*2/3]} {
			o := Options{Ratio: 1, Fancy: true, Recover: true}
			decode := func(fill byte) ([]byte, error) {
				used := bytes.Repeat([]byte{fill}, 1<<16)
				usedPlanes.Put(&used)
				d, err := NewDecoder(data, o)
				if err != nil {
					t.Fatal(err)
				}
				pix := make([]byte, d.Height*d.Width*d.Channels)
				return pix, d.Decode(pix)
			}
			a, errA := decode(0)
			b, errB := decode(0xa5)
			if !bytes.Equal(a, b) || errA != errB {
				t.Errorf("%+v, %d bytes of %d: pixels depend on what the memory held", e, len(data), len(file))
			}
		}
	}
}
