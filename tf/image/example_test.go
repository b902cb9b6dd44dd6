package image_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/image"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An image is [height width channels]; the functions take batches, too.
func ExampleFlipLeftRight() {
	g := eager.New()
	x := ops.Const(g, []uint8{1, 2, 3, 4}, 2, 2, 1)
	v, err := image.FlipLeftRight(x).Value()
	fmt.Println(v, err)
	// Output: uint8[2,2,1]{2, 1, 4, 3} <nil>
}

func ExampleRot90() {
	g := eager.New()
	x := ops.Const(g, []uint8{1, 2, 3, 4}, 2, 2, 1)
	v, err := image.Rot90(x, 1).Value()
	fmt.Println(v, err)
	// Output: uint8[2,2,1]{2, 4, 1, 3} <nil>
}

func ExampleResize() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2, 1)
	size := ops.Const(g, []int32{4, 4})
	v, err := image.Resize(x, size, image.ResizeOptions{Method: image.Nearest}).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Shape())
	pixels := tf.Data[float32](v)
	for y := range 4 {
		fmt.Println(pixels[4*y : 4*y+4])
	}
	// Output:
	// [4,4,1]
	// [1 1 2 2]
	// [1 1 2 2]
	// [3 3 4 4]
	// [3 3 4 4]
}

func ExampleCentralCrop() {
	g := eager.New()
	x := ops.Const(g, make([]float32, 8*6*3), 8, 6, 3)
	fmt.Println(image.CentralCrop(x, 0.5).Shape())
	// Output: [4,4,3]
}

// A box is a part of an image, in pixels.
func ExampleBox() {
	g := eager.New()
	x := ops.Const(g, []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3, 1)
	v, err := image.CropToBoundingBox(x, image.Box{Y: 1, X: 0, Height: 2, Width: 2}).Value()
	fmt.Println(v, err)
	// Output: uint8[2,2,1]{4, 5, 7, 8} <nil>
}

// Integers up to the greatest of their type become numbers from 0 to 1.
func ExampleConvertDType() {
	g := eager.New()
	v, err := image.ConvertDType(ops.Const(g, []uint8{0, 255}, 1, 1, 2), tf.Float32, false).Value()
	fmt.Println(v, err)
	// Output: float32[1,1,2]{0, 1} <nil>
}

func ExampleRGBToHSV() {
	g := eager.New()
	red := ops.Const(g, []float32{1, 0, 0}, 1, 1, 3)
	v, err := image.RGBToHSV(red).Value()
	fmt.Println(v, err)
	// Output: float32[1,1,3]{0, 1, 1} <nil>
}

func ExampleHSVToRGB() {
	g := eager.New()
	red := ops.Const(g, []float32{0, 1, 0.5}, 1, 1, 3)
	v, err := image.HSVToRGB(red).Value()
	fmt.Println(v, err)
	// Output: float32[1,1,3]{0.5, 0, 0} <nil>
}

// What is changed by chance takes a seed.
func ExampleRandomFlipLeftRight() {
	flip := func() (*tf.Tensor, error) {
		g := eager.New()
		x := ops.Const(g, []uint8{1, 2, 3, 4}, 1, 4, 1)
		return image.RandomFlipLeftRight(x, ops.Seed(7)).Value()
	}
	a, errA := flip()
	b, errB := flip()
	fmt.Println(a.String() == b.String(), errA, errB)
	// Output: true <nil> <nil>
}

// PSNR and SSIM say how much two images differ.
func ExampleSSIM() {
	g := eager.New()
	x := ops.Const(g, make([]float32, 16*16), 16, 16, 1)
	v, err := image.SSIM(x, x, 1, image.SSIMOptions{}).Value()
	fmt.Println(v, err)
	// Output: float32[]{1} <nil>
}
