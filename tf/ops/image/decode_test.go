package image_test

import (
	"bytes"
	stdimage "image"
	"image/color"
	"image/gif"

	"golang.org/x/image/bmp"

	"github.com/gorge-tf/gorge/internal/imagefile/jpeg"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

func init() {
	addJPEG()
	addGIF()
	addBMP()
	addWebP()
	addEncodeJPEG()
}

// waves returns an image of smooth colors, as bytes.
func waves(h, w, channels int) []byte {
	var out []byte
	for y := range h {
		for x := range w {
			out = append(out, []byte{byte(x * 9), byte(y*11 + x), byte(x*y + 40)}[:channels]...)
		}
	}
	return out
}

// jpegFile returns a file of an image of 19 rows of 21 pixels.
func jpegFile(channels int, e jpeg.Encoding) *core.Tensor {
	file, err := jpeg.Encode(waves(19, 21, channels), 19, 21, channels, e)
	if err != nil {
		panic(err)
	}
	return scalar(file)
}

func addJPEG() {
	const op, crop = "DecodeJpeg", "DecodeAndCropJpeg"
	coarse, fine := jpegFile(3, jpeg.Encoding{Quality: 80, Subsample: true}), jpegFile(3, jpeg.Encoding{Quality: 80, Progressive: true})
	gray, whole := jpegFile(1, jpeg.Encoding{Quality: 70}), core.Data[string](coarse)[0]
	cut := scalar(whole[:len(whole)-40])
	window := i32(3, 5, 9, 8)
	for name, o := range map[string]image.JPEGOpts{
		"": {}, "gray": {Channels: 1}, "half": {Ratio: 2}, "quarter": {Ratio: 4}, "eighth": {Ratio: 8, Channels: 3},
		"plain": {Plain: true}, "accurate": {DCTMethod: "INTEGER_ACCURATE"}, "fast": {DCTMethod: "INTEGER_FAST"},
	} {
		addSamples(
			sample{Op: op, Name: name, In: tensors{coarse}, F: unary(image.DecodeJpeg, o)},
			sample{Op: op, Name: name + " fine", In: tensors{fine}, F: unary(image.DecodeJpeg, o)},
			sample{Op: crop, Name: name, In: tensors{coarse, i32(1, 2, 1, 1)}, F: binary(image.DecodeAndCropJpeg, o)})
	}
	addSamples(
		sample{Op: op, Name: "of gray", In: tensors{gray}, F: unary(image.DecodeJpeg)},
		sample{Op: op, Name: "colors of gray", In: tensors{gray}, F: unary(image.DecodeJpeg, image.JPEGOpts{Channels: 3})},
		sample{Op: op, Name: "cut", In: tensors{cut}, F: unary(image.DecodeJpeg, image.JPEGOpts{Acceptable: 0.3})},
		sample{Op: op, Name: "mended", In: tensors{cut}, F: unary(image.DecodeJpeg, image.JPEGOpts{Recover: true})},
		sample{Op: crop, Name: "of gray", In: tensors{gray, window}, F: binary(image.DecodeAndCropJpeg)},
		sample{Op: crop, Name: "window", In: tensors{coarse, window}, F: binary(image.DecodeAndCropJpeg)},
		sample{Op: "ExtractJpegShape", In: tensors{coarse}, F: applied("ExtractJpegShape"), Types: []tf.DType{}},
		sample{Op: "ExtractJpegShape", Name: "of gray", In: tensors{gray}, F: applied("ExtractJpegShape", tf.Attr("output_type", tf.Int64)), Types: []tf.DType{}},
		failing("ExtractJpegShape", "contents", applied("ExtractJpegShape"), scalar("what?")),
		failing("ExtractJpegShape", "contents of two", applied("ExtractJpegShape"), arr(tf.Shape{2}, "", "")),
		failing(op, "cut", unary(image.DecodeJpeg, image.JPEGOpts{Acceptable: 0.9}), cut),
		failing(op, "nothing", unary(image.DecodeJpeg), scalar("")),
		failing(op, "ratio", unary(image.DecodeJpeg, image.JPEGOpts{Ratio: 3}), coarse),
		failing(op, "method", unary(image.DecodeJpeg, image.JPEGOpts{DCTMethod: "FLOAT"}), coarse),
		failing(op, "channels", unary(image.DecodeJpeg, image.JPEGOpts{Channels: 4}), coarse),
		failing(op, "two channels", unary(image.DecodeJpeg, image.JPEGOpts{Channels: 2}), coarse),
		failing(crop, "window", binary(image.DecodeAndCropJpeg), coarse, i32(15, 0, 9, 9)),
		failing(crop, "flat window", binary(image.DecodeAndCropJpeg), coarse, arr(tf.Shape{1, 4}, int32(0), 0, 1, 1)),
		failing(crop, "short window", binary(image.DecodeAndCropJpeg), coarse, i32(0, 0, 1)),
		failing(crop, "other file", binary(image.DecodeAndCropJpeg), scalar("GIF89a"), window))
	for _, d := range []tf.DType{tf.Uint8, tf.Uint16, tf.Float32} {
		addSamples(sample{Op: "DecodeImage", Name: "JPEG in " + d.String(), In: tensors{coarse}, F: unary(image.DecodeImage, image.DecodeOpts{DType: d})})
	}
}

// gifFile returns an animation whose frames cover parts of the canvas.
func gifFile(frames int) *core.Tensor {
	g := &gif.GIF{}
	palette := color.Palette{color.Black, color.NRGBA{200, 10, 20, 255}, color.NRGBA{1, 250, 3, 255}, color.NRGBA{}}
	for k := range frames {
		m := stdimage.NewPaletted(stdimage.Rect(k, k, 9, 7), palette)
		for i := range m.Pix {
			m.Pix[i] = byte((i*i + k) % 4)
		}
		g.Image, g.Delay, g.Disposal = append(g.Image, m), append(g.Delay, 1), append(g.Disposal, byte(k%4))
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		panic(err)
	}
	return scalar(b.String())
}

func addGIF() {
	const op = "DecodeGif"
	one, many := gifFile(1), gifFile(4)
	cut := scalar(core.Data[string](many)[0][:90])
	addSamples(
		sample{Op: op, In: tensors{many}, F: unary(image.DecodeGif)},
		sample{Op: op, Name: "cut", In: tensors{cut}, F: unary(image.DecodeGif)},
		sample{Op: op, Name: "of JPEG", In: tensors{jpegFile(3, jpeg.Encoding{Quality: 50})}, F: unary(image.DecodeGif)},
		sample{Op: "DecodePng", Name: "of GIF", In: tensors{one}, F: unary(image.DecodePng)},
		sample{Op: "DecodeImage", In: tensors{many}, F: unary(image.DecodeImage)},
		sample{Op: "DecodeImage", Name: "still", In: tensors{many}, F: unary(image.DecodeImage, image.StillOpts{})},
		sample{Op: "DecodeImage", Name: "GIF in float32", In: tensors{many}, F: unary(image.DecodeImage, image.DecodeOpts{DType: tf.Float32})},
		failing(op, "contents", unary(image.DecodeGif), scalar("what?")),
		failing(op, "header", unary(image.DecodeGif), scalar("GIF89a")),
		failing(op, "no frames", unary(image.DecodeGif), scalar(core.Data[string](one)[0][:30])),
		failing("DecodePng", "animation", unary(image.DecodePng), many),
		failing("DecodeImage", "channels", unary(image.DecodeImage, image.DecodeOpts{Channels: 4}), many),
		failing("DecodeBmp", "of GIF", unary(image.DecodeBmp), one))
}

// bmpFile returns a file of gray or colors.
func bmpFile(gray bool) *core.Tensor {
	var m stdimage.Image
	if r := stdimage.Rect(0, 0, 5, 3); gray {
		g := stdimage.NewGray(r)
		copy(g.Pix, waves(3, 5, 1))
		m = g
	} else {
		c := stdimage.NewRGBA(r)
		for i, v := range waves(3, 5, 3) {
			c.Pix[i/3*4+i%3], c.Pix[i/3*4+3] = v, 255
		}
		m = c
	}
	var b bytes.Buffer
	if err := bmp.Encode(&b, m); err != nil {
		panic(err)
	}
	return scalar(b.String())
}

func addBMP() {
	const op = "DecodeBmp"
	for name, file := range map[string]*core.Tensor{"gray": bmpFile(true), "color": bmpFile(false)} {
		for _, channels := range []int{0, 3, 4} {
			o := image.DecodeOpts{Channels: channels}
			addSamples(sample{Op: op, Name: name + string(rune('0'+channels)), In: tensors{file}, F: unary(image.DecodeBmp, o)})
		}
		data := core.Data[string](file)[0]
		addSamples(
			sample{Op: "DecodeImage", Name: "BMP " + name, In: tensors{file}, F: unary(image.DecodeImage, image.DecodeOpts{DType: tf.Uint16})},
			failing(op, name+" cut", unary(image.DecodeBmp), scalar(data[:len(data)-2])),
			failing(op, name+" header", unary(image.DecodeBmp), scalar(data[:20])),
			failing(op, name+" width", unary(image.DecodeBmp), scalar(data[:18]+"\x00\x00\x00\x00"+data[22:])),
			failing(op, name+" height", unary(image.DecodeBmp), scalar(data[:22]+"\x00\x00\x00\x00"+data[26:])),
			failing(op, name+" bits", unary(image.DecodeBmp), scalar(data[:28]+"\x10\x00"+data[30:])),
			failing(op, name+" size", unary(image.DecodeBmp), scalar(data[:20]+"\xff\x7f\xff\xff\xff\x7f"+data[26:])),
			failing("DecodePng", "of BMP "+name, unary(image.DecodePng), file))
	}
	addSamples(failing(op, "channels", unary(image.DecodeBmp, image.DecodeOpts{Channels: 1}), bmpFile(false)))
}

// webpFile returns a file without loss: one color, each of whose channels is a
// code of one symbol and so takes no bits.
func webpFile(width, height int, alpha bool) string {
	var bits, n uint64
	var body []byte
	put := func(v, size uint64) {
		bits |= v << n
		for n += size; n >= 8; n -= 8 {
			body = append(body, byte(bits))
			bits >>= 8
		}
	}
	put(0x2f, 8)
	put(uint64(width-1), 14)
	put(uint64(height-1), 14)
	put(map[bool]uint64{true: 1}[alpha], 1)
	put(0, 6) // version; no transform, no cache, one group of codes
	for _, v := range []uint64{200, 100, 50, 77} {
		put(5, 3)
		put(v, 8)
	}
	put(1, 12)
	chunk := "VP8L" + string([]byte{byte(len(body)), 0, 0, 0}) + string(body) + "\x00"[:len(body)%2]
	return "RIFF" + string([]byte{byte(len(chunk) + 4), 0, 0, 0}) + "WEBP" + chunk
}

func addWebP() {
	const op = "DecodeWebP"
	lossless := webpFile(3, 2, false)
	addSamples(
		sample{Op: op, Name: "alpha", In: tensors{scalar(webpFile(1, 4, true))}, F: unary(image.DecodeWebP)},
		sample{Op: op, In: tensors{scalar(lossless)}, F: unary(image.DecodeWebP)},
		sample{Op: "DecodeImage", Name: "WebP", In: tensors{scalar(lossless)}, F: unary(image.DecodeImage, image.StillOpts{})},
		failing(op, "header", unary(image.DecodeWebP), scalar(lossless[:20])),
		failing(op, "cut", unary(image.DecodeWebP), scalar(lossless[:30])),
		failing(op, "channels", unary(image.DecodeWebP, image.DecodeOpts{Channels: 1}), scalar(lossless)),
		failing(op, "other channels", unary(image.DecodeWebP, image.DecodeOpts{Channels: 4}), scalar(lossless)),
		failing("DecodeImage", "type of WebP", unary(image.DecodeImage, image.DecodeOpts{DType: tf.Uint16}), scalar(lossless)))
}

// addEncodeJPEG writes files, whose bytes are TensorFlow's but for progressive
// ones.
func addEncodeJPEG() {
	const op, variable = "EncodeJpeg", "EncodeJpegVariableQuality"
	x, gray := arr(tf.Shape{19, 21, 3}, waves(19, 21, 3)...), arr(tf.Shape{19, 21, 1}, waves(19, 21, 1)...)
	for name, o := range map[string]image.EncodeJPEGOpts{
		"": {}, "rgb": {Format: "rgb", Quality: 30, DensityUnit: "cm", XDensity: 7, YDensity: 9}, "optimized": {OptimizeSize: true},
		"full": {FullChroma: true, XMP: "metadata"},
	} {
		addSamples(sample{Op: op, Name: name, In: tensors{x}, F: unary(image.EncodeJpeg, o)})
	}
	again := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{image.DecodeJpeg(image.EncodeJpeg(in[0], image.EncodeJPEGOpts{Progressive: true}))}
	}
	addSamples(
		sample{Op: op, Name: "gray", In: tensors{gray}, F: unary(image.EncodeJpeg, image.EncodeJPEGOpts{Format: "grayscale"})},
		sample{Op: op, Name: "progressive", In: tensors{x}, F: again},
		sample{Op: variable, In: tensors{x, scalar(int32(60))}, F: binary(image.EncodeJpegVariableQuality)},
		sample{Op: variable, Name: "worst", In: tensors{gray, scalar(int32(0))}, F: binary(image.EncodeJpegVariableQuality)},
		failing(op, "flat", unary(image.EncodeJpeg), bytesOf(tf.Shape{3, 4})),
		failing(op, "channels", unary(image.EncodeJpeg), bytesOf(tf.Shape{3, 4, 2})),
		failing(op, "no pixels", unary(image.EncodeJpeg), bytesOf(tf.Shape{0, 4, 3})),
		failing(op, "format", unary(image.EncodeJpeg, image.EncodeJPEGOpts{Format: "rgb"}), gray),
		failing(op, "quality", unary(image.EncodeJpeg, image.EncodeJPEGOpts{Quality: 101}), x),
		failing(variable, "quality", binary(image.EncodeJpegVariableQuality), x, scalar(int32(-1))),
		failing(variable, "flat quality", binary(image.EncodeJpegVariableQuality), x, i32(5)),
		failing(variable, "flat", binary(image.EncodeJpegVariableQuality), bytesOf(tf.Shape{3, 4}), scalar(int32(5))))
}
