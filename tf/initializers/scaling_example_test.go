package initializers_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
)

// The mode says which side of a layer its values are scaled by: 600 inputs make them
// smaller than 2 outputs do.
func ExampleVarianceScaling() {
	var uniform initializers.Distribution = initializers.Uniform
	for _, mode := range []initializers.Mode{initializers.FanIn, initializers.FanOut} {
		g := eager.New()
		w := initializers.VarianceScaling(1, mode, uniform, 7)(g, tf.Float32, tf.Shape{600, 2})
		v, err := w.Abs().Max().Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.1f\n", v.At(0))
	}
	// Output:
	// 0.1
	// 1.2
}
