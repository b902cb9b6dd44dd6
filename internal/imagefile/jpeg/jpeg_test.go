package jpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"math"
	"slices"
	"testing"
)

// waves returns an image of smooth colors.
func waves(h, w, channels int) []byte {
	var out []byte
	for y := range h {
		for x := range w {
			for c := range channels {
				out = append(out, byte(128+100*math.Sin(float64(x)/9+float64(c))*math.Cos(float64(y)/7)))
			}
		}
	}
	return out
}

var whole = Options{Ratio: 1, Fancy: true, Accurate: true, Fraction: 1}

func decoded(t *testing.T, file string, o Options) (*Decoder, []byte) {
	t.Helper()
	d, err := NewDecoder(file, o)
	if err != nil {
		t.Fatal(err)
	}
	pix := make([]byte, d.Height*d.Width*d.Channels)
	if err := d.Decode(pix); err != nil {
		t.Fatal(err)
	}
	return d, pix
}

func encoded(t *testing.T, h, w, channels int, e Encoding) string {
	t.Helper()
	file, err := Encode(waves(h, w, channels), h, w, channels, e)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var sizes = []image.Point{{1, 1}, {9, 1}, {1, 7}, {8, 8}, {16, 16}, {17, 31}, {40, 23}}

// TestAgreesWithStandardLibrary: another decoder and encoder mean the same.
func TestAgreesWithStandardLibrary(t *testing.T) {
	for _, size := range sizes {
		for _, e := range []Encoding{{Quality: 90}, {Quality: 60, Optimize: true}, {Quality: 75, Progressive: true}} {
			file := encoded(t, size.Y, size.X, 3, e)
			m, err := stdjpeg.Decode(bytes.NewReader([]byte(file)))
			if err != nil {
				t.Fatal(err)
			}
			_, pix := decoded(t, file, whole)
			compare(t, fmt.Sprint(size, e), pix, m, 3)
		}
		var b bytes.Buffer
		gray := image.NewGray(image.Rectangle{Max: size})
		copy(gray.Pix, waves(size.Y, size.X, 1))
		if err := stdjpeg.Encode(&b, gray, nil); err != nil {
			t.Fatal(err)
		}
		m, err := stdjpeg.Decode(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		_, pix := decoded(t, b.String(), Options{Channels: 3, Ratio: 1, Accurate: true})
		compare(t, fmt.Sprint("gray", size), pix, m, 1)
	}
}

// compare compares pixels of three channels, of which some may differ a little.
func compare(t *testing.T, name string, pix []byte, m image.Image, tolerance int) {
	t.Helper()
	i := 0
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			for _, v := range []byte{c.R, c.G, c.B} {
				if d := int(v) - int(pix[i]); d > tolerance || -d > tolerance {
					t.Fatalf("%s: pixel %d,%d is %v, want %v", name, y, x, pix[i/3*3:i/3*3+3], c)
				}
				i++
			}
		}
	}
}

// TestEncodings: however coefficients are written, they are the same.
func TestEncodings(t *testing.T) {
	for _, size := range sizes {
		for _, subsample := range []bool{false, true} {
			e := Encoding{Quality: 85, Subsample: subsample}
			_, want := decoded(t, encoded(t, size.Y, size.X, 3, e), whole)
			e.Optimize = true
			_, optimized := decoded(t, encoded(t, size.Y, size.X, 3, e), whole)
			e.Progressive = true
			_, progressive := decoded(t, encoded(t, size.Y, size.X, 3, e), whole)
			if !bytes.Equal(want, optimized) || !bytes.Equal(want, progressive) {
				t.Errorf("%v, subsampled %v: pixels differ by how they are written", size, subsample)
			}
		}
	}
}

// TestSizes: reduced images have the mean colors of what they stand for.
func TestSizes(t *testing.T) {
	file := encoded(t, 64, 48, 1, Encoding{Quality: 100})
	_, full := decoded(t, file, whole)
	for _, ratio := range []int{2, 4, 8} {
		o := whole
		o.Ratio = ratio
		d, small := decoded(t, file, o)
		if d.Height != 64/ratio || d.Width != 48/ratio {
			t.Fatalf("ratio %d: %d by %d", ratio, d.Height, d.Width)
		}
		for i, v := range small {
			sum := 0
			for k := range ratio * ratio {
				sum += int(full[(i/d.Width*ratio+k/ratio)*48+i%d.Width*ratio+k%ratio])
			}
			if mean := sum / ratio / ratio; int(v) > mean+6 || int(v) < mean-6 {
				t.Fatalf("ratio %d: pixel %d is %d, want about %d", ratio, i, v, mean)
			}
		}
	}
}

// TestCrop: a part of an image is what the whole has there, but for what is
// interpolated at its edges.
func TestCrop(t *testing.T) {
	for _, subsample := range []bool{false, true} {
		file := encoded(t, 40, 53, 3, Encoding{Quality: 90, Subsample: subsample})
		_, full := decoded(t, file, whole)
		for _, w := range []Window{{0, 0, 40, 53}, {5, 17, 20, 11}, {33, 50, 7, 3}, {16, 16, 1, 1}} {
			o := whole
			o.Crop = &w
			d, part := decoded(t, file, o)
			edge := 0
			if subsample {
				edge = 1
			}
			for y := range d.Height {
				for x := edge; x < d.Width-edge; x++ {
					if got, want := part[(y*d.Width+x)*3:][:3], full[((y+w.Y)*53+x+w.X)*3:][:3]; !bytes.Equal(got, want) {
						t.Fatalf("%v: pixel %d,%d is %v, want %v", w, y, x, got, want)
					}
				}
			}
		}
		for _, w := range []Window{{0, 0, 41, 1}, {0, 0, 1, 54}, {-1, 0, 1, 1}, {0, 0, 0, 1}, {1, 1, math.MaxInt32, 1}} {
			o := whole
			o.Crop = &w
			if _, err := NewDecoder(file, o); err == nil {
				t.Errorf("window %v has been taken", w)
			}
		}
	}
}

// sampled returns a file whose planes have the given sampling factors, of one
// value each.
func sampled(h, w int, factors ...[2]int) string {
	file := []byte("\xff\xd8")
	maxH, maxV := 1, 1
	for _, f := range factors {
		maxH, maxV = max(maxH, f[0]), max(maxV, f[1])
	}
	head := []byte{8, 0, byte(h), 0, byte(w), byte(len(factors))}
	scan := []byte{byte(len(factors))}
	quant := append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)
	for i, f := range factors {
		head = append(head, byte(i+1), byte(f[0]<<4|f[1]), 0)
		scan = append(scan, byte(i+1), 0)
	}
	file = segment(segment(file, markerDQT, string(quant)), markerSOF0, string(head))
	c := &coder{out: segment(file, markerSOS, string(scan)+"\x00\x3f\x00")}
	for at, t := range usualTables() {
		c.setCodes(at, t)
	}
	last := make([]int, len(factors))
	for range ceilDiv(h, 8*maxV) * ceilDiv(w, 8*maxH) {
		for i, f := range factors {
			p := &plane{blocks: [][64]int16{{int16(80 * (i + 1))}}, stride: 1}
			for range f[0] * f[1] {
				p.code(c, part{end: 63}, 0, 0, &last[i])
			}
		}
	}
	c.bits(0x7f, 7)
	return string(append(c.out, 0xff, markerEOI))
}

// TestSampling: planes of every sampling cover all pixels.
func TestSampling(t *testing.T) {
	for _, luma := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}} {
		for _, fancy := range []bool{false, true} {
			file := sampled(33, 37, luma, [2]int{1, 1}, [2]int{1, 1})
			o := whole
			o.Fancy = fancy
			_, pix := decoded(t, file, o)
			r, g, b := rgbOf(138, 148, 158)
			for i, v := range pix {
				if want := clamp([]int32{r, g, b}[i%3]); v != want {
					t.Fatalf("sampling %v, interpolated %v: sample %d is %d, want %d", luma, fancy, i, v, want)
				}
			}
		}
	}
	if _, err := NewDecoder(sampled(9, 9, [2]int{3, 1}, [2]int{2, 1}, [2]int{1, 1}), whole); err == nil {
		t.Error("sampling by fractions has been taken")
	}
}

// TestInks: four planes are inks, inverted if Adobe's marker says so.
func TestInks(t *testing.T) {
	file := sampled(8, 8, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1})
	_, pix := decoded(t, file, whole)
	ink := func(v, k int) byte { return byte((255 - k) * (255 - v) / 255) }
	if want := []byte{ink(138, 168), ink(148, 168), ink(158, 168)}; !bytes.Equal(pix[:3], want) {
		t.Errorf("inks are %v, want %v", pix[:3], want)
	}
	_, pix = decoded(t, "\xff\xd8"+string(segment(nil, markerAPP14, "Adobe\x00\x64\x00\x00\x00\x00\x00"))+file[2:], whole)
	if want := []byte{138 * 168 / 255, 148 * 168 / 255, 158 * 168 / 255}; !bytes.Equal(pix[:3], want) {
		t.Errorf("Adobe's inks are %v, want %v", pix[:3], want)
	}
}

// restarted returns a file with a restart after every MCU, whose numbers are
// what the function makes of them.
func restarted(t *testing.T, number func(int) int) string {
	t.Helper()
	e := &encoder{Encoding: Encoding{Quality: 90}, height: 24, width: 40, channels: 1, sampling: 1}
	e.split(waves(24, 40, 1))
	e.planes[0].transform()
	plain := e.file()
	at := bytes.Index([]byte(plain), []byte{0xff, markerSOS})
	file := append([]byte(plain[:at]), 0xff, markerDRI, 0, 4, 0, 1)
	c := &coder{out: append(file, plain[at:at+10]...)}
	for at, t := range usualTables() {
		c.setCodes(at, t)
	}
	for i := range 15 {
		last := 0
		e.planes[0].code(c, part{end: 63}, i/5, i%5, &last)
		c.bits(0x7f, 7)
		c.have = 0
		if i < 14 {
			c.out = append(c.out, 0xff, markerRST0+byte(number(i)&7))
		}
	}
	return string(append(c.out, 0xff, markerEOI))
}

// TestRestarts: restarts change nothing, and one with a wrong number costs no
// more than what is near it.
func TestRestarts(t *testing.T) {
	_, want := decoded(t, encoded(t, 24, 40, 1, Encoding{Quality: 90}), whole)
	_, got := decoded(t, restarted(t, func(i int) int { return i }), whole)
	if !bytes.Equal(got, want) {
		t.Error("restarts change pixels")
	}
	_, got = decoded(t, restarted(t, func(i int) int {
		if i == 6 {
			return i + 4
		}
		return i
	}), whole)
	if !bytes.Equal(got[16*40:], want[16*40:]) {
		t.Error("after a wrong restart the rows below are lost")
	}
}

// TestCut: a file that ends early has the rows before that.
func TestCut(t *testing.T) {
	file := encoded(t, 64, 48, 3, Encoding{Quality: 90, Subsample: true})
	_, full := decoded(t, file, whole)
	short := file[:len(file)*3/4]
	d, err := NewDecoder(short, whole)
	if err != nil {
		t.Fatal(err)
	}
	pix := make([]byte, 64*48*3)
	if err := d.Decode(pix); err == nil {
		t.Error("a file without its end is whole")
	}
	o := whole
	o.Fraction = 0.1
	_, pix = decoded(t, short, o)
	rows := 64
	for rows > 0 && !slices.ContainsFunc(pix[(rows-1)*48*3:rows*48*3], func(v byte) bool { return v != 0 }) {
		rows--
	}
	if rows != 30 && rows != 46 || !bytes.Equal(pix[:rows*48*3], full[:rows*48*3]) {
		t.Errorf("%d rows are there", rows)
	}
	o.Recover = true
	_, pix = decoded(t, short, o)
	if !bytes.Equal(pix[:rows*48*3], full[:rows*48*3]) {
		t.Error("rows are lost that were there")
	}
}

func TestRefusals(t *testing.T) {
	good := encoded(t, 8, 8, 1, Encoding{Quality: 50})
	for name, file := range map[string]string{
		"nothing": "", "other": "PNG", "end": "\xff\xd8\xff\xd9", "marker": "\xff\xd8\xff", "no scan": good[:40],
		"two starts": "\xff\xd8" + good, "no tables": "\xff\xd8" + good[20:60],
	} {
		if d, err := NewDecoder(file, whole); err == nil && d.Decode(make([]byte, d.Height*d.Width*d.Channels)) == nil {
			t.Errorf("%s: has been taken", name)
		}
		if _, _, _, err := Size(file); err == nil && name != "no tables" {
			t.Errorf("%s: has a size", name)
		}
	}
	if _, err := NewDecoder(good, Options{Ratio: 1, Channels: 4}); err == nil {
		t.Error("4 channels have been taken")
	}
	for _, size := range [][3]int{{0, 1, 1}, {1, 0, 3}, {1, 65501, 1}, {2, 2, 2}} {
		if _, err := Encode(make([]byte, size[0]*size[1]*size[2]), size[0], size[1], size[2], Encoding{}); err == nil {
			t.Errorf("an image of %v has been encoded", size)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range []Encoding{{Quality: 90}, {Quality: 30, Subsample: true}, {Quality: 50, Progressive: true}} {
		file, err := Encode(waves(20, 19, 3), 20, 19, 3, e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, 0, 1, false)
		f.Add(file[:len(file)/2], 1, 2, true)
	}
	large, err := Encode(pattern(90, 100, 3), 90, 100, 3, Encoding{Quality: 95, Subsample: true}) // is read in a hurry
	if err != nil {
		f.Fatal(err)
	}
	f.Add(large, 0, 0, false)
	f.Add(sampled(33, 37, [2]int{2, 1}, [2]int{1, 1}, [2]int{1, 1}), 3, 4, true)
	f.Fuzz(func(t *testing.T, file string, channels, ratio int, mend bool) {
		if h, w, _, err := Size(file); err != nil || h*w > 1<<16 {
			return // is only slow
		}
		o := Options{Channels: channels, Ratio: 1 << (uint(ratio) % 4), Fancy: mend, Recover: mend, Accurate: !mend}
		d, err := NewDecoder(file, o)
		if err != nil {
			return
		}
		d.Decode(make([]byte, d.Height*d.Width*d.Channels))
	})
}
