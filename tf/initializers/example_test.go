package initializers_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
)

// An initializer gives a variable its first value.
func ExampleInitializer() {
	g := eager.New()
	for _, initialize := range []initializers.Initializer{initializers.Zeros, initializers.Ones, initializers.Constant(0.5), initializers.Identity(2)} {
		v := tf.NewVariable(initialize(g, tf.Float32, tf.Shape{2, 2}), tf.VariableOptions{})
		x, err := v.Value().Value()
		fmt.Println(x, err)
	}
	// Output:
	// float32[2,2]{0, 0, 0, 0} <nil>
	// float32[2,2]{1, 1, 1, 1} <nil>
	// float32[2,2]{0.5, 0.5, 0.5, 0.5} <nil>
	// float32[2,2]{2, 0, 0, 2} <nil>
}

// The limits of GlorotUniform follow from the numbers of inputs and outputs.
func ExampleGlorotUniform() {
	g := eager.New()
	g.SetSeed(1)
	x := initializers.GlorotUniform(g, tf.Float32, tf.Shape{200, 400})
	limit, err := x.Abs().Max().Value() // at most sqrt(6 / 600)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", limit.At(0))
	// Output: 0.100
}

// Equal seeds give equal numbers.
func ExampleTruncatedNormal() {
	sample := func() (*tf.Tensor, error) {
		return initializers.TruncatedNormal(0, 0.1, 42)(eager.New(), tf.Float32, tf.Shape{3}).Value()
	}
	a, errA := sample()
	b, errB := sample()
	fmt.Println(a.String() == b.String(), errA, errB)
	// Output: true <nil> <nil>
}
