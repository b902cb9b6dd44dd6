package stablehlo

import (
	"bytes"
	"math/bits"
)

// size is how many bytes an element of a constant takes.
func (e Elem) size() int {
	switch e {
	case "complex<f32>":
		return 8
	case "complex<f64>":
		return 16
	}
	if f, ok := floats[e]; ok {
		return int(f.bits()+7) / 8
	}
	return int(bitsOf[e]+7) / 8
}

// elements returns the number of a tensor's elements if all sizes are known. Numbers
// that no memory could hold are as good as one another.
func (t Type) elements() (uint64, bool) {
	const huge = 1 << 62
	n := uint64(1)
	for _, d := range t.Shape {
		if d == Dynamic {
			return 0, false
		}
		over, product := bits.Mul64(n, uint64(d))
		if n = product; over != 0 || n > huge {
			n = huge
		}
	}
	return n, t.Kind == Tensor
}

// dense reads the elements of a constant.
func (c *cursor) dense(t Type) Attr {
	data := c.blob()
	n, static := t.elements()
	if !static {
		c.corrupt("a constant must be a tensor whose sizes are known, got %v", t)
	}
	if c.failed() {
		return nil
	}
	if t.Elem == "i1" {
		return c.booleans(t, n, data)
	}
	size := uint64(t.Elem.size())
	d := Dense{Type: t, Data: kept(data)}
	switch got := uint64(len(data)); {
	case n == 0 && got <= size:
		d.Data = nil
	case got == size:
		d.Splat = n > 1
	case got%size != 0 || got/size != n:
		c.corrupt("a constant must have all of its elements, or one for all, got %d bytes for %v", got, t)
	}
	return d
}

// largeConstant is the size from which on constants keep the memory of the artifact.
const largeConstant = 1 << 16

// kept returns data to keep. Small constants do not hold the artifact.
func kept(data []byte) []byte {
	if len(data) < largeConstant {
		return bytes.Clone(data)
	}
	return data[:len(data):len(data)]
}

// booleans reads the elements of a constant of booleans, which are bits, or bytes. One
// byte of ones stands for all elements, whatever their number.
func (c *cursor) booleans(t Type, n uint64, data []byte) Attr {
	got := uint64(len(data))
	d := Dense{Type: t}
	switch {
	case n == 0 && got <= 1:
	case got == 1 && (data[0] == 0xFF || n > 8 && data[0] == 0):
		d.Data, d.Splat = []byte{data[0] & 1}, n > 1
	case got == n:
		d.Data = kept(data)
	case got == (n+7)/8:
		d.Data = unpack(data, int(n))
	default:
		c.corrupt("a constant must have all of its booleans, or one for all, got %d bytes for %v", got, t)
	}
	for _, b := range d.Data {
		if b > 1 {
			c.corrupt("a boolean must be 0 or 1, got %d", b)
			break
		}
	}
	return d
}

// unpack returns a byte for each bit.
func unpack(packed []byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = packed[i/8] >> (i % 8) & 1
	}
	return out
}
