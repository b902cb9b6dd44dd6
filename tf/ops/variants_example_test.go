package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A polynomial is a value of a program's own that operations pass on in
// tensors of type Variant.
type polynomial []complex128

// Plus makes sums of polynomials out of AddN, of gradients too.
func (p polynomial) Plus(other any) (any, error) {
	q, ok := other.(polynomial)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "polynomials are added to polynomials, got %T", other)
	}
	if len(p) < len(q) {
		p, q = q, p
	}
	sum := append(polynomial{}, p...)
	for i, c := range q {
		sum[i] += c
	}
	return sum, nil
}

// Zero makes ZerosLike a polynomial.
func (p polynomial) Zero() any { return polynomial{} }

// Conjugated makes Conj the polynomial of the conjugates.
func (p polynomial) Conjugated() any {
	conj := append(polynomial{}, p...)
	for i, c := range conj {
		conj[i] = complex(real(c), -imag(c))
	}
	return conj
}

// Values of a program's own are added and conjugated where they have the
// methods of Summable and Conjugable.
func ExampleSummable() {
	var p interface {
		ops.Summable
		ops.Conjugable
	} = polynomial{1, 2i}
	t := core.NewTensor(tf.Variant, tf.Shape{})
	t.Variants()[0].Value = p
	g := eager.New()
	x := ops.ConstValue(g, t)
	for _, y := range []tf.Output{ops.AddN([]tf.Output{x, x}), ops.Conj(x), ops.ZerosLike(x)} {
		v, err := y.Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println((*core.Tensor)(v).Variants()[0].Value)
	}
	// Output:
	// [(2+0i) (0+4i)]
	// [(1-0i) (0-2i)]
	// []
}
