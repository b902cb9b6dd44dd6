package jpeg

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestGolden compares with TensorFlow's libjpeg-turbo, bit for bit: files of all kinds,
// cut off and damaged at random, and what is encoded. testdata/golden.py has written
// testdata/golden.txt and says what its lines mean.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Fields(line)
		var got, want string
		switch f[0] {
		case "file":
			data, err := base64.StdEncoding.DecodeString(f[2])
			if err != nil {
				t.Fatal(err)
			}
			files[f[1]] = string(data)
			continue
		case "made":
			files[f[1]] = goldenFile(t, f[2:])
			continue
		case "decode":
			got, want = goldenDecode(t, files[f[1]], f[2:]), strings.Join(f[11:], " ")
		case "encode":
			got, want = goldenEncode(t, f[1:]), strings.Join(f[11:], " ")
		default:
			t.Fatalf("a line must begin with file, made, decode or encode: %s", line)
		}
		if got != want {
			t.Errorf("%s: got %s", line, got)
		}
	}
	if len(files) == 0 {
		t.Error("there are no files")
	}
}

// goldenDecode decodes a damaged file as fields say, from CUT to CROP.
func goldenDecode(t *testing.T, file string, f []string) string {
	data := []byte(file)
	for _, edit := range strings.Split(f[1], ",") {
		if at, v, ok := strings.Cut(edit, "="); ok {
			data[number(t, at)] = byte(number(t, v))
		}
	}
	if cut := number(t, f[0]); cut > 0 {
		data = data[:cut]
	}
	fraction, err := strconv.ParseFloat(f[7], 32)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Channels: number(t, f[2]), Ratio: number(t, f[3]), Fancy: f[4] == "1", Accurate: f[5] == "1", Recover: f[6] == "1", Fraction: float32(fraction)}
	if c := strings.Split(f[8], ","); len(c) == 4 {
		o.Crop = &Window{number(t, c[0]), number(t, c[1]), number(t, c[2]), number(t, c[3])}
	}
	d, err := NewDecoder(string(data), o)
	if err != nil {
		return "error 0"
	}
	pix := make([]byte, d.Height*d.Width*d.Channels)
	if d.Decode(pix) != nil {
		return "error 0"
	}
	return fmt.Sprintf("%dx%dx%d %08x", d.Height, d.Width, d.Channels, crc32.ChecksumIEEE(pix))
}

// goldenEncode encodes a pattern as fields say, from H to XMP.
func goldenEncode(t *testing.T, f []string) string {
	h, w, c := number(t, f[0]), number(t, f[1]), number(t, f[2])
	e := Encoding{Quality: number(t, f[3]), Optimize: f[4] == "1", Subsample: f[5] == "1",
		Unit: byte(number(t, f[6])), XDensity: uint16(number(t, f[7])), YDensity: uint16(number(t, f[8])), XMP: strings.TrimPrefix(f[9], "-")}
	file, err := Encode(pattern(h, w, c), h, w, c, e)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %08x", len(file), crc32.ChecksumIEEE([]byte(file)))
}

// goldenFile encodes a pattern as fields say, from H to SUBSAMPLE.
func goldenFile(t *testing.T, f []string) string {
	h, w, c := number(t, f[0]), number(t, f[1]), number(t, f[2])
	e := Encoding{Quality: number(t, f[3]), Optimize: f[4] == "1", Subsample: f[5] == "1", Unit: 1, XDensity: 300, YDensity: 300}
	file, err := Encode(pattern(h, w, c), h, w, c, e)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// pattern has edges, ramps and single pixels, by the formula of golden.py.
func pattern(h, w, channels int) (pix []byte) {
	for y := range h {
		for x := range w {
			for c := range channels {
				pix = append(pix, byte(3*x+5*y+40*c+(x*x+3*x*y)%41*2+(x/5+y/3+c)%7*23))
			}
		}
	}
	return pix
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
