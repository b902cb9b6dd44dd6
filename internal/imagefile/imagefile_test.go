package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
)

var sizes = []image.Point{{1, 1}, {7, 1}, {1, 5}, {19, 13}}

func TestFormats(t *testing.T) {
	for data, want := range map[string]Format{
		"\xff\xd8\xff\xe0": JPEG, pngMagic: PNG, "GIF89a": GIF, "BM": BMP, "RIFF0000WEBPV": WebP,
		"": Unknown, "RIFF0000WEBP": Unknown, "RIFF0000WAVEf": Unknown, "\xff\xd8": Unknown,
	} {
		if got := FormatOf(data); got != want {
			t.Errorf("%q is of format %d, want %d", data, got, want)
		}
	}
}

// draw fills an image.
func draw[M interface {
	image.Image
	Set(x, y int, c color.Color)
}](m M) M {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			m.Set(x, y, color.NRGBA64{uint16(x * 7001), uint16(y * 5003), uint16(x * y * 77), uint16(65535 - 911*x)})
		}
	}
	return m
}

func palette() (p color.Palette) {
	for i := range 200 {
		p = append(p, color.NRGBA{byte(i * 3), byte(200 - i), byte(i * i), byte(255 - i%2*100)})
	}
	return p
}

// TestPNG decodes what the standard library writes: it says what the pixels are.
func TestPNG(t *testing.T) {
	for _, size := range sizes {
		r := image.Rectangle{Max: size}
		for name, m := range map[string]image.Image{
			"gray": draw(image.NewGray(r)), "deep gray": draw(image.NewGray16(r)), "color": draw(image.NewNRGBA(r)),
			"deep color": draw(image.NewNRGBA64(r)), "palette": draw(image.NewPaletted(r, palette())), "few": draw(image.NewPaletted(r, palette()[:3])),
		} {
			for _, level := range []png.CompressionLevel{png.DefaultCompression, png.NoCompression} {
				var b bytes.Buffer
				if err := (&png.Encoder{CompressionLevel: level}).Encode(&b, m); err != nil {
					t.Fatal(err)
				}
				checkPNG(t, name+fmt.Sprint(size), b.String(), m)
			}
		}
	}
}

func checkPNG(t *testing.T, name, file string, m image.Image) {
	t.Helper()
	f, err := ReadPNG(file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	size := m.Bounds().Size()
	if f.Height != size.Y || f.Width != size.X || !f.Plausible() {
		t.Fatalf("%s: %d by %d", name, f.Height, f.Width)
	}
	deep, flat := make([]uint16, size.X*size.Y*4), make([]uint8, size.X*size.Y*4)
	if err := DecodePNG(f, deep, 4); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := DecodePNG(f, flat, 4); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range size.X * size.Y {
		c := straight(m.At(i%size.X, i/size.X))
		for k, want := range []uint16{c.R, c.G, c.B, c.A} {
			if deep[4*i+k] != want || flat[4*i+k] != uint8(want>>8) {
				t.Fatalf("%s: pixel %d is %v and %v, want %v", name, i, deep[4*i:4*i+4], flat[4*i:4*i+4], c)
			}
		}
	}
}

// straight returns a color whose channels are not multiplied by alpha.
func straight(c color.Color) color.NRGBA64 {
	switch c := c.(type) {
	case color.NRGBA:
		return color.NRGBA64{uint16(c.R) * 257, uint16(c.G) * 257, uint16(c.B) * 257, uint16(c.A) * 257}
	case color.NRGBA64:
		return c
	}
	r, g, b, a := c.RGBA()
	return color.NRGBA64{uint16(r), uint16(g), uint16(b), uint16(a)}
}

// TestEncodePNG: the standard library reads what is written.
func TestEncodePNG(t *testing.T) {
	for _, size := range sizes {
		m := draw(image.NewNRGBA(image.Rectangle{Max: size}))
		for level := -1; level < 10; level++ {
			file, err := EncodePNG(m.Pix, size.Y, size.X, 4, level)
			if err != nil {
				t.Fatal(err)
			}
			got, err := png.Decode(strings.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.(*image.NRGBA).Pix, m.Pix) {
				t.Errorf("%v at level %d: pixels differ", size, level)
			}
		}
	}
	if _, err := EncodePNG(nil, 0, 3, 1, 6); err == nil {
		t.Error("an image without pixels has been encoded")
	}
}

// TestDamagedPNG: whatever byte changes, there is an error or an image.
func TestDamagedPNG(t *testing.T) {
	file, err := EncodePNG(draw(image.NewNRGBA(image.Rect(0, 0, 9, 4))).Pix, 4, 9, 4, 6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for _, data := range []string{file[:i], file[:i] + string(file[i]^1) + file[i+1:]} {
			if f, err := ReadPNG(data); err == nil && DecodePNG(f, make([]byte, f.Height*f.Width*f.Channels()), f.Channels()) == nil {
				t.Errorf("byte %d: damage goes unseen", i)
			}
		}
	}
	huge := file[:16] + "\x00\x0f\x00\x00\x00\x00\x10\x00" + file[24:29]
	huge += string(binary.BigEndian.AppendUint32(nil, 0x2a1b9e1f)) + file[33:]
	if f, err := ReadPNG(huge); err == nil && f.Plausible() {
		t.Error("a small file holds a huge image")
	}
}

// TestGIF: frames are drawn on those before, where they are not transparent.
func TestGIF(t *testing.T) {
	colors := color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{200, 100, 50, 255}, color.NRGBA{}}
	for _, size := range sizes {
		g := &gif.GIF{}
		var want []byte
		canvas := image.NewNRGBA(image.Rectangle{Max: size})
		for k := range 3 {
			m := image.NewPaletted(image.Rect(k%size.X, k/2%size.Y, size.X, size.Y), colors)
			for i := range m.Pix {
				m.Pix[i] = byte((i + i/3 + k) % 3)
			}
			g.Image, g.Delay = append(g.Image, m), append(g.Delay, 1)
			b := m.Bounds()
			for y := b.Min.Y; y < b.Max.Y; y++ {
				for x := b.Min.X; x < b.Max.X; x++ {
					if c := m.At(x, y).(color.NRGBA); c.A != 0 {
						canvas.SetNRGBA(x, y, c)
					}
				}
			}
			for i := 0; i < len(canvas.Pix); i += 4 {
				want = append(want, canvas.Pix[i:i+3]...)
			}
		}
		var b bytes.Buffer
		if err := gif.EncodeAll(&b, g); err != nil {
			t.Fatal(err)
		}
		f, err := ReadGIF(b.String())
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, f.Frames*f.Height*f.Width*3)
		if err := f.Decode(got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%v: pixels are %v, want %v", size, got, want)
		}
		if cut, err := ReadGIF(b.String()[:b.Len()-2]); err != nil || cut.Frames != 2 {
			t.Errorf("%v: without its end the file has %v, %v", size, cut, err)
		}
	}
}

// TestGIFOfManyColors uses codes of all lengths.
func TestGIFOfManyColors(t *testing.T) {
	m := image.NewPaletted(image.Rect(0, 0, 300, 200), palette())
	state := uint32(1)
	for i := range m.Pix {
		state = state*1664525 + 1013904223
		m.Pix[i] = byte(state >> 24 % 200)
	}
	var b bytes.Buffer
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	f, err := ReadGIF(b.String())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(f.frames[0].pixels, m.Pix) {
		t.Error("pixels differ")
	}
}

func TestBMP(t *testing.T) {
	for _, size := range sizes {
		m := image.NewRGBA(image.Rectangle{Max: size})
		for i := range m.Pix {
			m.Pix[i] = byte(i * 7)
			if i%4 == 3 {
				m.Pix[i] = 255
			}
		}
		var b bytes.Buffer
		if err := bmp.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		f, err := ReadBMP(b.String())
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(m.Pix))
		f.Decode(got, 4)
		if !bytes.Equal(got, m.Pix) {
			t.Errorf("%v: pixels are %v, want %v", size, got, m.Pix)
		}
		for i := range b.Len() {
			if _, err := ReadBMP(b.String()[:i]); err == nil {
				t.Errorf("%v: %d bytes are enough", size, i)
			}
		}
	}
}

// TestWebPCanvas: frames are blended, or replace what is there, or leave nothing
// behind.
func TestWebPCanvas(t *testing.T) {
	pixel := func(v, a byte, blend, dispose bool) *webpFrame {
		return &webpFrame{width: 1, height: 1, pix: []byte{v, v, v, a}, alpha: a < 255, blend: blend, dispose: dispose}
	}
	v := &webpCanvas{width: 2, height: 1, pix: make([]byte, 8)}
	for i, step := range []struct {
		frame *webpFrame
		want  []byte
	}{
		{&webpFrame{width: 2, height: 1, pix: []byte{10, 10, 10, 255, 20, 20, 20, 255}}, []byte{10, 10, 10, 255, 20, 20, 20, 255}},
		{pixel(200, 128, true, false), []byte{104, 104, 104, 255, 20, 20, 20, 255}},
		{pixel(50, 0, true, false), []byte{104, 104, 104, 255, 20, 20, 20, 255}},
		{pixel(50, 0, false, true), []byte{50, 50, 50, 0, 20, 20, 20, 255}},
		{pixel(90, 100, true, false), []byte{90, 90, 90, 100, 20, 20, 20, 255}},
	} {
		v.show(step.frame)
		for k, want := range step.want {
			if d := int(v.pix[k]) - int(want); d < -1 || d > 1 {
				t.Fatalf("step %d: canvas is %v, want %v", i, v.pix, step.want)
			}
		}
	}
}

// TestUpsampling: chroma that is the same everywhere stays so.
func TestUpsampling(t *testing.T) {
	for _, size := range sizes {
		m := image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
		for i := range m.Y {
			m.Y[i] = 126
		}
		for i := range m.Cb {
			m.Cb[i], m.Cr[i] = 128, 128
		}
		dst := make([]byte, 3*size.X*size.Y)
		webpPixels(dst, m, 3)
		for i, v := range dst {
			if v != dst[0] || v < 126 || v > 130 {
				t.Fatalf("%v: sample %d is %d, the first %d", size, i, v, dst[0])
			}
		}
	}
}

func FuzzPNG(f *testing.F) {
	for level := range 3 {
		file, err := EncodePNG(draw(image.NewNRGBA(image.Rect(0, 0, 9, 4))).Pix, 4, 9, 4, level)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, 3)
	}
	f.Fuzz(func(t *testing.T, file string, channels int) {
		p, err := ReadPNG(file)
		if err != nil || !p.Plausible() || p.Height*p.Width > 1<<20 {
			return
		}
		channels = 1 + int(uint(channels)%4)
		DecodePNG(p, make([]uint16, p.Height*p.Width*channels), channels)
	})
}

func FuzzGIF(f *testing.F) {
	var b bytes.Buffer
	if err := gif.Encode(&b, draw(image.NewPaletted(image.Rect(0, 0, 9, 4), palette())), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add(b.String()[:b.Len()/2])
	f.Fuzz(func(t *testing.T, file string) {
		g, err := ReadGIF(file)
		if err != nil || g.Frames*g.Height*g.Width > 1<<20 {
			return
		}
		g.Decode(make([]byte, g.Frames*g.Height*g.Width*3))
	})
}

func FuzzBMP(f *testing.F) {
	var b bytes.Buffer
	if err := bmp.Encode(&b, draw(image.NewNRGBA(image.Rect(0, 0, 9, 4)))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String(), 3)
	f.Fuzz(func(t *testing.T, file string, channels int) {
		m, err := ReadBMP(file)
		if err != nil {
			return
		}
		channels = []int{3, 4}[uint(channels)%2]
		m.Decode(make([]byte, m.Height*m.Width*channels), channels)
	})
}

func FuzzWebP(f *testing.F) {
	f.Add("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00\x01\x00\x00\x01\x00\x00ANMF\x10\x00\x00\x00" + strings.Repeat("\x00", 16))
	f.Fuzz(func(t *testing.T, file string) {
		w, err := ReadWebP(file)
		if err != nil || w.Frames*w.Height*w.Width > 1<<20 {
			return
		}
		w.Decode(make([]byte, w.Frames*w.Height*w.Width*w.Channels))
	})
}
