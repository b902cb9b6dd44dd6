package image_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/image"
	"github.com/gorge-tf/gorge/tf/ops"
)

// The methods differ in what they make of pixels between those that there are.
func ExampleMethod() {
	g := eager.New()
	row := ops.Const(g, []float32{0, 8}, 1, 2, 1)
	for _, m := range []image.Method{image.Nearest, image.Bilinear} {
		v, err := image.Resize(row, ops.Const(g, []int32{1, 4}), image.ResizeOptions{Method: m}).Reshape(-1).Value()
		fmt.Println(m, v, err)
	}
	// Output:
	// nearest float32[4]{0, 0, 8, 8} <nil>
	// bilinear float32[4]{0, 2, 6, 8} <nil>
}
