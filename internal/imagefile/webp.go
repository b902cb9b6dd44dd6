package imagefile

import (
	"encoding/binary"
	"errors"
	"image"
	"strings"

	"golang.org/x/image/webp"
)

var errWebP = errors.New("webp: invalid data")

// A WebPFile is the header of a WebP file.
type WebPFile struct {
	Frames, Height, Width, Channels int
	Animated                        bool

	data   string
	chunks []webpChunk
}

// A webpChunk is a part of a file.
type webpChunk struct{ kind, data string }

// The flags of an extended file.
const (
	webpAnimated = 0x02
	webpAlpha    = 0x10
)

// splitWebP splits data into chunks, of which the last may be cut off.
func splitWebP(data string) (out []webpChunk) {
	for len(data) >= 8 {
		n := min(int(binary.LittleEndian.Uint32([]byte(data[4:8]))), len(data)-8)
		out = append(out, webpChunk{data[:4], data[8 : 8+n]})
		data = data[min(len(data), 8+n+n&1):]
	}
	return out
}

// ReadWebP reads the header of a file.
func ReadWebP(data string) (*WebPFile, error) {
	if FormatOf(data) != WebP {
		return nil, errWebP
	}
	f := &WebPFile{data: data, chunks: splitWebP(data[12:]), Frames: 1, Channels: 3}
	if len(f.chunks) == 0 {
		return nil, errWebP
	}
	first := f.chunks[0]
	if first.kind == "VP8X" && len(first.data) >= 10 {
		f.Animated = first.data[0]&webpAnimated != 0
		f.Width, f.Height = 1+word24(first.data[4:]), 1+word24(first.data[7:])
		if first.data[0]&webpAlpha != 0 {
			f.Channels = 4
		}
		if f.Animated {
			f.Frames = len(f.frames())
		}
		if f.Width*f.Height >= 1<<32 { // the format's limit
			return nil, errWebP
		}
		return f, nil
	}
	c, err := webp.DecodeConfig(strings.NewReader(data))
	if err != nil {
		return nil, errWebP
	}
	f.Width, f.Height = c.Width, c.Height
	if first.kind == "VP8L" && len(first.data) >= 5 && first.data[4]&0x10 != 0 {
		f.Channels = 4
	}
	return f, nil
}

func word24(s string) int { return int(s[0]) | int(s[1])<<8 | int(s[2])<<16 }

// Decode computes the pixels of as many frames as dst takes. Errors have
// TensorFlow's words.
func (f *WebPFile) Decode(dst []byte) error {
	if f.Animated {
		return f.animation(dst)
	}
	m, err := webp.Decode(strings.NewReader(f.data))
	if err != nil || m.Bounds().Dx() != f.Width || m.Bounds().Dy() != f.Height {
		return errors.New("Failed to decode WebP image.")
	}
	webpPixels(dst, m, f.Channels)
	return nil
}

// webpPixels computes the pixels of a decoded image.
func webpPixels(dst []byte, m image.Image, channels int) {
	switch m := m.(type) {
	case *image.NRGBA:
		size := m.Bounds()
		for y := range size.Dy() {
			for x := range size.Dx() {
				copy(dst[(y*size.Dx()+x)*channels:][:channels], m.Pix[y*m.Stride+4*x:][:4])
			}
		}
	case *image.YCbCr:
		newUpsampling(m, dst, channels).image()
	case *image.NYCbCrA:
		newUpsampling(&m.YCbCr, dst, channels).image()
		size := m.Bounds()
		for y := 0; y < size.Dy() && channels == 4; y++ {
			for x := range size.Dx() {
				dst[(y*size.Dx()+x)*4+3] = m.A[y*m.AStride+x]
			}
		}
	}
}

// An upsampling interpolates chroma between four samples, as libwebp does: each
// counts 9, 3, 3 and 1 times, rounded in between.
type upsampling struct {
	*image.YCbCr
	dst           []byte
	channels      int
	height, width int
}

func newUpsampling(m *image.YCbCr, dst []byte, channels int) *upsampling {
	return &upsampling{m, dst, channels, m.Bounds().Dy(), m.Bounds().Dx()}
}

func (u *upsampling) image() {
	for y := range u.height {
		near, far := y/2, (y-1)/2
		if y%2 == 1 {
			far = near + 1
		} else if y == 0 {
			far = 0
		}
		far = min(far, (u.height-1)/2)
		u.row(y, near*u.CStride, far*u.CStride)
	}
}

// row computes a row from the row of chroma that is nearer and the other.
func (u *upsampling) row(y, near, far int) {
	last := (u.width - 1) / 2
	for x := range u.width {
		a := x / 2
		b := a + 2*(x&1) - 1
		if x == 0 {
			b = 0
		}
		cb, cr := mix(u.Cb, near, far, a, b), mix(u.Cr, near, far, a, b)
		if x == 0 || b > last {
			cb, cr = edge(u.Cb, near, far, a), edge(u.Cr, near, far, a)
		}
		u.set(y, x, cb, cr)
	}
}

// mix interpolates: column a and row near are nearer than b and far.
func mix(c []byte, near, far, a, b int) int {
	b = min(b, len(c)-1-max(near, far))
	v, h, d, w := int(c[near+a]), int(c[near+b]), int(c[far+a]), int(c[far+b])
	avg := v + h + d + w + 8
	return (v + (avg+2*(h+d))>>3) >> 1
}

// edge interpolates between rows only.
func edge(c []byte, near, far, a int) int { return (3*int(c[near+a]) + int(c[far+a]) + 2) >> 2 }

// set computes a pixel of luma and chroma.
func (u *upsampling) set(y, x, cb, cr int) {
	luma := int(u.Y[y*u.YStride+x]) * 19077 >> 8
	p := u.dst[(y*u.width+x)*u.channels:][:u.channels]
	p[0] = webpClip(luma + cr*26149>>8 - 14234)
	p[1] = webpClip(luma - cb*6419>>8 - cr*13320>>8 + 8708)
	p[2] = webpClip(luma + cb*33050>>8 - 17685)
	if len(p) == 4 {
		p[3] = 255
	}
}

func webpClip(v int) byte { return byte(max(0, min(v>>6, 255))) }
