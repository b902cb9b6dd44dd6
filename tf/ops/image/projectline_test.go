package image

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestProjectLine compares lines with what their pixels are by definition.
func TestProjectLine(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		s := tf.Shape{2, 1 + r.IntN(9), 1 + r.IntN(9), 1 + r.IntN(4)}
		p := &projection{in: s, out: tf.Shape{2, 3, 11, s[3]}, bilinear: r.IntN(4) > 0, fill: float32(r.IntN(9)),
			mode: []string{"CONSTANT", "REFLECT", "WRAP", "NEAREST"}[r.IntN(4)]}
		for range 16 {
			p.transforms = append(p.transforms, []float32{0, 1, -1, 0.25 * float32(r.NormFloat64()), float32(r.NormFloat64()), 1e9}[r.IntN(6)])
		}
		x, whole := make([]float32, s.NumElements()), make([]uint8, s.NumElements())
		for i := range x {
			whole[i] = uint8(r.IntN(256))
			x[i] = float32(whole[i])
		}
		got, bytes := make([]float32, p.out[2]*s[3]), make([]uint8, p.out[2]*s[3])
		image, row := r.IntN(2), r.IntN(3)
		projectLine(p, got, x, image, row)
		projectLine(p, bytes, whole, image, row)
		want := projectTwin(p, x, image, row)
		cut := make([]uint8, len(want))
		for i, v := range want {
			cut[i] = uint8(int64(v))
		}
		if !slices.Equal(got, want) || !slices.Equal(bytes, cut) {
			t.Fatalf("%+v: %v and %v, want %v", p, got, bytes, want)
		}
	}
}

// projectTwin computes a line element by element.
func projectTwin(p *projection, x []float32, image, row int) (out []float32) {
	for i := range p.out[2] * p.in[3] {
		read := func(y, x0 float32) float32 {
			if at := p.at(image, y, x0); at >= 0 {
				return x[at+i%p.in[3]]
			}
			return p.fill
		}
		fy, fx, ok := p.source(image, row, i/p.in[3])
		top, left := float32(math.Floor(float64(fy))), float32(math.Floor(float64(fx)))
		switch {
		case !ok:
			out = append(out, p.fill)
		case !p.bilinear:
			out = append(out, read(float32(math.Round(float64(fy))), float32(math.Round(float64(fx)))))
		default:
			upper := float32((left+1-fx)*read(top, left)) + float32((fx-left)*read(top, left+1))
			lower := float32((left+1-fx)*read(top+1, left)) + float32((fx-left)*read(top+1, left+1))
			out = append(out, float32((top+1-fy)*upper)+float32((fy-top)*lower))
		}
	}
	return out
}
