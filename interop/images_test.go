package interop

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/image" // registers
)

// An imageCase is a file and an op that decodes it.
type imageCase struct {
	Op    string         `json:"op"`
	File  string         `json:"file"`
	Attrs map[string]any `json:"attrs"`
}

// imageResult is what came out of it.
type imageResult struct {
	Shape []int  `json:"shape"`
	Hash  string `json:"hash"`
	Code  int    `json:"code"`
	Text  string `json:"text"`
}

// TestImageFiles decodes files that TensorFlow and Gorge have written, files of
// every kind that the formats have, and damaged ones: pixels, shapes and errors
// have to be equal, to the bit.
func TestImageFiles(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	names := script(t, "images.py", "write", dir)
	for name, data := range drawnFiles(t) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var cases []imageCase
	for _, name := range names {
		cases = append(cases, casesOf(name)...)
	}
	text, err := json.Marshal(cases)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cases.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range script(t, "images.py", "read", dir) {
		var want imageResult
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		if got := decodeHere(t, dir, cases[i]); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %v, TensorFlow's %v", cases[i], got, want)
		}
	}
}

// casesOf returns the ops to decode a file with.
func casesOf(name string) (out []imageCase) {
	add := func(op string, attrs map[string]any) { out = append(out, imageCase{op, name, attrs}) }
	switch filepath.Ext(name) {
	case ".jpg":
		for _, ratio := range []int{1, 2, 4, 8} {
			for _, channels := range []int{0, 1, 3} {
				add("DecodeJpeg", map[string]any{"ratio": ratio, "channels": channels})
			}
		}
		add("DecodeJpeg", map[string]any{"dct_method": "INTEGER_ACCURATE", "acceptable_fraction": 0.25})
		add("DecodeJpeg", map[string]any{"fancy_upscaling": false})
		for _, window := range [][]int{{0, 0, 5, 5}, {3, 7, 9, 10}, {0, 17, 40, 31}, {20, 33, 16, 16}} {
			add("DecodeAndCropJpeg", map[string]any{"crop_window": window})
		}
	case ".png":
		for _, dtype := range []string{"uint8", "uint16"} {
			for channels := range 5 {
				add("DecodePng", map[string]any{"channels": channels, "dtype": dtype})
			}
		}
	case ".gif":
		add("DecodeGif", nil)
		add("DecodePng", nil)
		add("DecodeImage", map[string]any{"expand_animations": false})
	case ".bmp":
		for _, channels := range []int{0, 1, 3, 4} {
			add("DecodeBmp", map[string]any{"channels": channels})
		}
	}
	if strings.Contains(name, "-down") {
		return out // TensorFlow ends with a segmentation fault
	}
	for _, dtype := range []string{"uint16", "float32"} {
		add("DecodeImage", map[string]any{"dtype": dtype})
	}
	return out
}

// decodeHere runs a case.
func decodeHere(t *testing.T, dir string, c imageCase) (r imageResult) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, c.File))
	if err != nil {
		t.Fatal(err)
	}
	g := eager.New()
	in := []tf.Output{ops.Scalar(g, string(data))}
	var opts []tf.Option
	for name, v := range c.Attrs {
		switch v := v.(type) {
		case []int:
			window := (*tf.Tensor)(core.NewTensor(tf.Int32, tf.Shape{4}))
			for i, n := range v {
				tf.Data[int32](window)[i] = int32(n)
			}
			in = append(in, ops.ConstTensor(g, window))
		case float64:
			opts = append(opts, tf.Attr(name, float32(v)))
		case string:
			opts = append(opts, attrOf(name, v))
		default:
			opts = append(opts, tf.Attr(name, v))
		}
	}
	out, err := tf.Apply(nil, c.Op, in, opts...).Output(0).Value()
	var e *tf.Error
	if errors.As(err, &e) {
		return imageResult{Code: int(e.Code), Text: e.Message()}
	}
	return imageResult{Shape: out.Shape(), Hash: hashOf(t, out)}
}

func attrOf(name, v string) tf.Option {
	if name == "dtype" {
		return tf.Attr(name, map[string]tf.DType{"uint8": tf.Uint8, "uint16": tf.Uint16, "float32": tf.Float32}[v])
	}
	return tf.Attr(name, v)
}

func hashOf(t *testing.T, out *tf.Tensor) string {
	t.Helper()
	var bits any
	switch out.DType() {
	case tf.Uint8:
		bits = tf.Data[uint8](out)
	case tf.Uint16:
		bits = tf.Data[uint16](out)
	default:
		bits = tf.Data[float32](out)
	}
	b, err := binary.Append(nil, binary.LittleEndian, bits)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// drawnFiles returns files by name: those that TensorFlow cannot write.
func drawnFiles(t *testing.T) map[string]string {
	files := map[string]string{"empty.jpg": "\xff\xd8\xff"}
	for _, size := range []image.Point{{1, 1}, {5, 3}, {67, 45}} {
		m := picture(size)
		at := fmt.Sprintf("%dx%d", size.Y, size.X)
		files[at+"-progressive.jpg"] = encodedHere(t, "EncodeJpeg", m, tf.Attr("progressive", true), tf.Attr("chroma_downsampling", false))
		files[at+"-optimized.jpg"] = encodedHere(t, "EncodeJpeg", m, tf.Attr("optimize_size", true))
		files[at+"-written.png"] = encodedHere(t, "EncodePng", m)
		addPNGs(files, at, size)
		addGIFs(t, files, at, size)
		addBMPs(t, files, at, m)
	}
	for name, data := range files {
		if strings.HasPrefix(name, "45x") {
			addDamaged(files, name, data)
		}
	}
	return files
}

// picture returns an image of smooth colors.
func picture(size image.Point) *image.NRGBA {
	m := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 7), uint8(y * 11), uint8(x*y + 40), uint8(255 - x - y)})
		}
	}
	return m
}

func encodedHere(t *testing.T, op string, m *image.NRGBA, opts ...tf.Option) string {
	t.Helper()
	size := m.Rect.Size()
	x := (*tf.Tensor)(core.NewTensor(tf.Uint8, tf.Shape{size.Y, size.X, 3}))
	for i := range size.X * size.Y {
		copy(tf.Data[uint8](x)[3*i:3*i+3], m.Pix[4*i:])
	}
	out, err := tf.Apply(nil, op, []tf.Output{ops.ConstTensor(eager.New(), x)}, opts...).Output(0).Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[string](out)[0]
}

// addPNGs adds files of all types of color and depths, with and without
// transparency, interlaced or not, and with what says how colors are meant.
func addPNGs(files map[string]string, at string, size image.Point) {
	samples := map[int]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
	for kind, n := range samples {
		for _, depth := range []int{1, 2, 4, 8, 16} {
			if depth < 8 && n > 1 || kind == 3 && depth == 16 {
				continue
			}
			for variant := range 4 {
				name := fmt.Sprintf("%s-type%d-depth%d-%d.png", at, kind, depth, variant)
				files[name] = drawnPNG(size, kind, depth, n, variant&1 == 1, variant&2 != 0)
			}
		}
	}
	for _, gamma := range []uint32{45455, 100000, 55556} {
		meant := pngPart("gAMA", string(binary.BigEndian.AppendUint32(nil, gamma)))
		files[fmt.Sprintf("%s-gamma%d.png", at, gamma)] = withPart(drawnPNG(size, 2, 8, 3, false, false), meant)
	}
}

// withPart puts a part behind the header of a PNG file.
func withPart(file, part string) string { return file[:33] + part + file[33:] }

// passesOfPNG are those of an interlaced image: x, y and steps.
var passesOfPNG = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// drawnPNG returns a file of noise.
func drawnPNG(size image.Point, kind, depth, samples int, transparent, interlaced bool) string {
	rng := rand.New(rand.NewPCG(uint64(kind), uint64(depth*size.X)))
	passes, interlace := [][4]int{{0, 0, 1, 1}}, byte(0)
	if interlaced {
		passes, interlace = passesOfPNG, 1
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for _, p := range passes {
		w, h := (size.X-p[0]+p[2]-1)/p[2], (size.Y-p[1]+p[3]-1)/p[3]
		for y := range max(0, h) {
			if w <= 0 {
				break
			}
			line := []byte{byte(y % 5)}
			for range (w*samples*depth + 7) / 8 {
				line = append(line, byte(rng.Uint32()))
			}
			z.Write(line)
		}
	}
	z.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	head = append(binary.BigEndian.AppendUint32(head, uint32(size.Y)), byte(depth), byte(kind), 0, 0, interlace)
	out := "\x89PNG\r\n\x1a\n" + pngPart("IHDR", string(head))
	if kind == 3 {
		out += pngPart("PLTE", string(head)+string(head[:5]))
	}
	if clear := map[int]string{0: "\x00\x01", 2: "\x00\x01\x00\x02\x00\x03", 3: "\x10\x20"}[kind]; transparent && clear != "" {
		out += pngPart("tRNS", clear)
	}
	return out + pngPart("IDAT", packed.String()) + pngPart("IEND", "")
}

func pngPart(kind, data string) string {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:])))
}

// addGIFs adds animations whose frames cover parts of the canvas, and are to be
// disposed of in every way.
func addGIFs(t *testing.T, files map[string]string, at string, size image.Point) {
	palette := color.Palette{color.NRGBA{A: 255}, color.NRGBA{200, 10, 20, 255}, color.NRGBA{1, 250, 3, 255}, color.NRGBA{}}
	for _, frames := range []int{1, 4} {
		g := &gif.GIF{Config: image.Config{Width: size.X, Height: size.Y}}
		for k := range frames {
			r := image.Rect(k%size.X, k%size.Y, size.X, size.Y)
			m := image.NewPaletted(r, palette)
			for i := range m.Pix {
				m.Pix[i] = uint8((i*i + k) % len(palette))
			}
			g.Image, g.Delay, g.Disposal = append(g.Image, m), append(g.Delay, 1), append(g.Disposal, byte(k%4))
		}
		var b bytes.Buffer
		if err := gif.EncodeAll(&b, g); err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("%s-%d.gif", at, frames)] = b.String()
	}
}

func addBMPs(t *testing.T, files map[string]string, at string, m *image.NRGBA) {
	gray := image.NewGray(m.Rect)
	opaque := image.NewRGBA(m.Rect)
	for i := range gray.Pix {
		gray.Pix[i] = m.Pix[4*i]
		copy(opaque.Pix[4*i:], []byte{m.Pix[4*i], m.Pix[4*i+1], m.Pix[4*i+2], 255})
	}
	for name, m := range map[string]image.Image{"gray": gray, "color": opaque, "alpha": m} {
		var b bytes.Buffer
		if err := bmp.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		files[at+"-"+name+".bmp"] = b.String()
		down := b.String()
		height := binary.LittleEndian.AppendUint32(nil, -binary.LittleEndian.Uint32([]byte(down[22:])))
		files[at+"-"+name+"-down.bmp"] = down[:22] + string(height) + down[26:]
	}
}

// addDamaged adds what is left of a file when its end is missing. In the midst
// of PNG and JPEG data, bytes are changed too.
func addDamaged(files map[string]string, name, data string) {
	base, ext, _ := strings.Cut(name, ".")
	for k, n := range []int{9, len(data) / 5, len(data) / 2, len(data) - 20, len(data) - 3, len(data) - 1} {
		files[fmt.Sprintf("cut-%s-%d.%s", base, k, ext)] = data[:min(max(4, n), len(data))]
	}
	if ext == "png" {
		for _, k := range []int{17, 30, len(data) / 2, len(data) - 6} {
			files[fmt.Sprintf("changed-%s-%d.%s", base, k, ext)] = data[:k] + string(data[k]^0x15) + data[k+1:]
		}
	}
}
