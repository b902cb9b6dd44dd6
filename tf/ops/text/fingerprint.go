package text

import (
	"encoding/binary"

	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Fingerprint", In: "data: T; method: string", Out: "fingerprint: uint8", Attrs: "T: type",
		Shape: fingerprintShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(fingerprintKernel),
	})
}

const (
	fingerprintSize   = 8
	fingerprintMethod = "farmhash64" // the only one there is
)

// Fingerprint returns a matrix uint8 with a fingerprint of 8 bytes for each
// row of x, all that lies at an index of its first dimension. The method, a
// scalar, is "farmhash64". The last dimension holds the 64 bits of FarmHash's
// Fingerprint64 (Pike, 2014) with the lowest byte first. x has one dimension
// or more and any type but resource and variant; a scalar and another method
// are refused with INVALID_ARGUMENT, when the graph is built if shape or
// method are known, else in the step. A row of several strings has the
// fingerprint of the fingerprints of its strings.
func Fingerprint(x, method tf.Output, opts ...tf.Option) tf.Output {
	return apply("Fingerprint", opts, x, method)
}

func fingerprintShape(c *core.Infer) error {
	x, rows, size := c.In(0), -1, -1
	if x != nil && len(x) == 0 {
		return invalid("Shape must be at least rank 1 but is rank 0")
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	if len(x) > 0 {
		rows = x[0]
	}
	if m := c.Const(1); m != nil && m.DType() == tf.String {
		if s := core.Data[string](m)[0]; s != fingerprintMethod {
			return invalid("unsupported fingerprint method: %s", s)
		}
		size = fingerprintSize
	}
	c.Set(0, tf.Shape{rows, size})
	return nil
}

func fingerprintKernel(n *core.Node) (core.Kernel, error) {
	switch d := n.Type("T"); d {
	case tf.Resource, tf.Variant:
		return nil, invalid("Data type not supported: %s", d.CName())
	}
	return core.Compute(func(c *core.OpContext) error {
		x, method := c.Input(0), c.Input(1)
		if method.Rank() != 0 {
			return invalid("`method` should be a scalar string: %s", method.Shape().String())
		}
		if m := core.Data[string](method)[0]; m != fingerprintMethod {
			return invalid("Unsupported fingerprint method: %s", m)
		}
		if x.Rank() < 1 {
			return invalid("`data` should have at least one dimension: %s", x.Shape().String())
		}
		rows := x.Shape()[0]
		out, err := c.Alloc(0, tf.Uint8, tf.Shape{rows, fingerprintSize})
		if err != nil || rows == 0 {
			return err
		}
		fingerprints(c, core.Data[uint8](out), rowsOf(x), rows)
		return nil
	}), nil
}

// rowsOf returns what gives the bytes of row i of x.
func rowsOf(x *core.Tensor) func(i int) string {
	width := x.Len() / x.Shape()[0]
	if x.DType() != tf.String {
		bytes, size := x.Buffer().Bytes(), width*x.DType().Size()
		return func(i int) string { return string(bytes[i*size : (i+1)*size]) }
	}
	words := core.Data[string](x)
	if width == 1 {
		return func(i int) string { return words[i] }
	}
	return func(i int) string { // the fingerprints of all words stand for them
		b := core.Make[byte](width * fingerprintSize)[:0]
		for _, w := range words[i*width : (i+1)*width] {
			b = binary.LittleEndian.AppendUint64(b, hash.Fingerprint64(w))
		}
		return string(b)
	}
}

func fingerprints(c *core.OpContext, y []uint8, row func(i int) string, rows int) {
	c.ParallelFor(rows, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			binary.LittleEndian.PutUint64(y[i*fingerprintSize:], hash.Fingerprint64(row(i)))
		}
	})
}
