package elementwise

import "github.com/gorge-tf/gorge/internal/machine"

// Polynomials in single precision, each operation rounded by itself as in TensorFlow's, and the
// same in machine code.

// horner evaluates a polynomial, the highest coefficient first.
func horner(x float32, c []float32) float32 {
	y := c[0]
	for _, k := range c[1:] {
		y = float32(y*x) + k
	}
	return y
}

func hornerLanes(c *machine.Code, x machine.Value, k []float32) machine.Value {
	y := c.Literal(k[0])
	for _, k := range k[1:] {
		y = c.Add(c.Mul(y, x), c.Literal(k))
	}
	return y
}

// clenshaw evaluates a sum of Chebyshev polynomials of x/2, the highest coefficient first, of which
// the last one is doubled.
func clenshaw(x float32, c []float32) float32 {
	before, b1, b := float32(0), c[0], float32(x*c[0])+c[1]
	for _, k := range c[2:] {
		before, b1, b = b1, b, float32(x*b)+k-b1
	}
	return 0.5 * (b - before)
}

func clenshawLanes(c *machine.Code, x machine.Value, k []float32) machine.Value {
	before, b1 := c.Literal(0), c.Literal(k[0])
	b := c.Add(c.Mul(x, b1), c.Literal(k[1]))
	for _, k := range k[2:] {
		before, b1, b = b1, b, c.Sub(c.Add(c.Mul(x, b), c.Literal(k)), b1)
	}
	return c.Mul(c.Float(0.5), c.Sub(b, before))
}
