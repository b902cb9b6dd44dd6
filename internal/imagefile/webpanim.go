package imagefile

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/image/webp"

	"github.com/gorge-tf/gorge/internal/memory"
)

// A webpFrame is a part of an animation.
type webpFrame struct {
	x, y, width, height int
	blend, dispose      bool
	alpha               bool
	pix                 []byte // with alpha, whether it has some or not
}

var errWebPAnimation = errors.New("Failed to decode WebP Animation: failed to decode WebP Animation")

// frames returns the frames of an animation as they are in the file.
func (f *WebPFile) frames() (out []string) {
	for _, c := range f.chunks {
		if c.kind == "ANMF" {
			out = append(out, c.data)
		}
	}
	return out
}

// animation decodes the frames of an animation, each as large as the canvas.
func (f *WebPFile) animation(dst []byte) error {
	size := f.Height * f.Width * 4
	canvas := webpCanvas{width: f.Width, height: f.Height}
	for k, data := range f.frames()[:len(dst)/size] {
		frame, err := readWebPFrame(data)
		if err != nil || frame.x+frame.width > f.Width || frame.y+frame.height > f.Height {
			return errWebPAnimation
		}
		before := canvas.pix
		canvas.pix = dst[k*size:][:size]
		copy(canvas.pix, before)
		canvas.show(frame)
	}
	return nil
}

// readWebPFrame decodes a frame.
func readWebPFrame(b string) (*webpFrame, error) {
	if len(b) < 16 {
		return nil, errWebP
	}
	f := &webpFrame{
		x: 2 * word24(b), y: 2 * word24(b[3:]), width: 1 + word24(b[6:]), height: 1 + word24(b[9:]),
		blend: b[15]&2 == 0, dispose: b[15]&1 != 0,
	}
	file := f.alone(b[16:])
	c, err := webp.DecodeConfig(strings.NewReader(file))
	if err != nil || c.Width != f.width || c.Height != f.height {
		return nil, errWebP
	}
	memory.Room(4 * f.width * f.height)
	m, err := webp.Decode(strings.NewReader(file))
	if err != nil || m.Bounds().Dx() != f.width || m.Bounds().Dy() != f.height {
		return nil, errWebP
	}
	f.alpha = strings.HasPrefix(b[16:], "ALPH") || strings.HasPrefix(b[16:], "VP8L") && len(b) > 28 && b[28]&0x10 != 0
	f.pix = memory.Make[byte](f.width * f.height * 4)
	webpPixels(f.pix, m, 4)
	return f, nil
}

// alone returns a file of the frame alone.
func (f *webpFrame) alone(chunks string) string {
	body := "WEBP"
	if strings.HasPrefix(chunks, "ALPH") {
		w, h := f.width-1, f.height-1
		body += "VP8X\x0a\x00\x00\x00" + string([]byte{webpAlpha, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)})
	}
	body += chunks
	return "RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body
}

// A webpCanvas is what an animation shows.
type webpCanvas struct {
	width, height int
	pix           []byte
	before        *webpFrame
	key           bool // the frame before needs none before it
}

// covers reports whether a frame is as large as the canvas.
func (v *webpCanvas) covers(g *webpFrame) bool { return g.width == v.width && g.height == v.height }

// show draws the next frame. Over what is empty for sure it is not blended: that
// would change colors a little.
func (v *webpCanvas) show(g *webpFrame) {
	b := v.before
	key := b == nil || (!g.alpha || !g.blend) && v.covers(g) || b.dispose && (v.covers(b) || v.key)
	if key {
		clear(v.pix)
	} else if b.dispose {
		for y := range b.height {
			clear(v.pix[((b.y+y)*v.width+b.x)*4:][:4*b.width])
		}
	}
	for y := range g.height {
		for x := range g.width {
			to, from := v.pix[((g.y+y)*v.width+g.x+x)*4:][:4], g.pix[(y*g.width+x)*4:][:4]
			if key || !g.blend || from[3] == 255 || b.dispose && b.has(g.y+y, g.x+x) {
				copy(to, from)
			} else {
				blend(to, from)
			}
		}
	}
	v.before, v.key = g, key
}

// has reports whether a place of the canvas is the frame's.
func (f *webpFrame) has(y, x int) bool {
	return y >= f.y && y < f.y+f.height && x >= f.x && x < f.x+f.width
}

// blend lays a pixel over another, in integers as libwebp does.
func blend(under, over []byte) {
	a := uint32(over[3])
	if a == 0 {
		return
	}
	left := uint32(under[3]) * (256 - a) >> 8
	all := a + left
	by := uint32(1<<24) / all
	for i := range 3 {
		under[i] = byte((uint32(over[i])*a + uint32(under[i])*left) * by >> 24)
	}
	under[3] = byte(all)
}
