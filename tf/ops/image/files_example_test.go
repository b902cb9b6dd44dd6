package image_test

import (
	"fmt"
	goimage "image"
	"image/color"
	"image/gif"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// An image of a PNG file, with a channel for gray and as 16 bits a pixel.
func ExampleDecodePng() {
	g := eager.New()
	file := image.EncodePng(ops.Const(g, []uint8{255, 255, 255, 0, 0, 0}, 1, 2, 3))
	v, err := image.DecodePng(file).Value()
	fmt.Println(v, err)
	v, err = image.DecodePng(file, image.DecodeOpts{Channels: 1, DType: tf.Uint16}).Value()
	fmt.Println(v, err)
	// Output:
	// uint8[1,2,3]{255, 255, 255, 0, 0, 0} <nil>
	// uint16[1,2,1]{65535, 0} <nil>
}

// JPEG files of low quality are smaller.
func ExampleEncodeJpeg() {
	g := eager.New()
	pixels := make([]uint8, 16*16)
	for i := range pixels {
		pixels[i] = uint8(i * i)
	}
	x := ops.Const(g, pixels, 16, 16, 1)
	good, err := image.EncodeJpeg(x, image.EncodeJPEGOpts{Quality: 95, Format: "grayscale"}).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	poor, err := image.EncodeJpeg(x, image.EncodeJPEGOpts{Quality: 20, OptimizeSize: true}).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(tf.Data[string](good)[0]) > len(tf.Data[string](poor)[0]))
	// Output: true
}

// A JPEG file is read at half its size, as colors.
func ExampleDecodeJpeg() {
	g := eager.New()
	file := image.EncodeJpeg(ops.Fill([]int{16, 8, 1}, ops.Scalar[uint8](g, 128)))
	v, err := image.DecodeJpeg(file, image.JPEGOpts{Channels: 3, Ratio: 2, DCTMethod: "INTEGER_ACCURATE"}).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Shape(), tf.Data[uint8](v)[0])
	// Output: [8,4,3] 128
}

// Of an animation all frames are read, or by StillOpts the first.
func ExampleStillOpts() {
	palette := color.Palette{color.Black, color.White}
	frame := goimage.NewPaletted(goimage.Rect(0, 0, 2, 1), palette)
	var file strings.Builder
	frames := &gif.GIF{Image: []*goimage.Paletted{frame, frame}, Delay: []int{0, 0}}
	if err := gif.EncodeAll(&file, frames); err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	contents := ops.Scalar(g, file.String())
	for _, opts := range [][]tf.Option{nil, {image.StillOpts{}}} {
		v, err := image.DecodeImage(contents, opts...).Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.Shape())
	}
	// Output:
	// [2,1,2,3]
	// [1,2,3]
}
