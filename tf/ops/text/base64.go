package text

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "EncodeBase64", In: "input: string", Out: "output: string", Attrs: "pad: bool = false",
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(encodeBase64),
	})
	core.Register(core.OpDef{
		Name: "DecodeBase64", In: "input: string", Out: "output: string",
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(decodeBase64Kernel),
	})
}

// Base64Opts is the optional attribute of EncodeBase64: Pad fills the text up
// to a multiple of four characters.
type Base64Opts struct{ Pad bool }

// Apply sets the attribute.
func (o Base64Opts) Apply(s *tf.Spec) { s.Set("pad", o.Pad) }

// EncodeBase64 writes the strings of x in the form of Base64 that is safe in
// URLs. The result has the shape of x; any bytes are taken (RFC 4648, the
// alphabet with - and _). Another type than string is refused with
// INVALID_ARGUMENT when the graph is built. Its options are [Base64Opts].
func EncodeBase64(x tf.Output, opts ...tf.Option) tf.Output { return apply("EncodeBase64", opts, x) }

// DecodeBase64 undoes EncodeBase64, with and without padding. The alphabet is
// that of RFC 4648 with - and _. The result has the shape of x. A character
// outside of the alphabet that is safe in URLs, ends of lines among them, and
// a length that no text has are refused with INVALID_ARGUMENT in the step.
func DecodeBase64(x tf.Output, opts ...tf.Option) tf.Output { return apply("DecodeBase64", opts, x) }

func encodeBase64(n *core.Node) (core.Kernel, error) {
	pad := n.Bool("pad")
	return eachText(func(b []byte, s string) []byte {
		if size := (len(s) + 2) / 3 * 4; size >= countedTexts {
			core.Room(size)
		}
		return appendBase64(b, s, pad)
	}), nil
}

// digits are those of Base64 in URLs.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// values are those of the digits; other bytes have noDigit.
var values = func() (v [256]byte) {
	for i := range v {
		v[i] = noDigit
	}
	for i := range len(digits) {
		v[digits[i]] = byte(i)
	}
	return v
}()

const noDigit = 0xFF

// digitPairs are two digits for each 12 bits, the first one in the lower byte.
var digitPairs = sync.OnceValue(func() *[1 << 12]uint16 {
	p := new([1 << 12]uint16)
	for i := range p {
		p[i] = uint16(digits[i>>6]) | uint16(digits[i&63])<<8
	}
	return p
})

// appendBase64 is AppendEncode of package encoding/base64, which takes longer to begin than
// it takes to write most texts.
func appendBase64(b []byte, s string, pad bool) []byte {
	n, p := len(b), digitPairs()
	b = slices.Grow(b, (len(s)+2)/3*4)[:n+len(s)/3*4]
	to := b[n:]
	for ; len(s) >= 8 && len(to) >= 8; s, to = s[6:], to[8:] {
		v := uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 | uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
		binary.LittleEndian.PutUint64(to, uint64(p[v>>52])|uint64(p[v>>40&0xFFF])<<16|uint64(p[v>>28&0xFFF])<<32|uint64(p[v>>16&0xFFF])<<48)
	}
	for ; len(s) >= 3 && len(to) >= 4; s, to = s[3:], to[4:] {
		v := uint(s[0])<<16 | uint(s[1])<<8 | uint(s[2])
		binary.LittleEndian.PutUint32(to, uint32(p[v>>12&0xFFF])|uint32(p[v&0xFFF])<<16)
	}
	switch len(s) {
	case 0:
		return b
	case 1:
		b = binary.LittleEndian.AppendUint16(b, p[uint(s[0])<<4])
	case 2:
		v := uint(s[0])<<16 | uint(s[1])<<8
		b = append(binary.LittleEndian.AppendUint16(b, p[v>>12]), digits[v>>6&63])
	}
	if pad {
		b = append(b, "=="[len(s)-1:]...)
	}
	return b
}

func decodeBase64Kernel(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		in, y := core.Data[string](c.Input(0)), core.Data[string](out)
		var failed atomic.Bool
		c.ParallelFor(len(y), grain, func(lo, hi int) {
			if !decodeAll(y[lo:hi], in[lo:hi]) {
				failed.Store(true)
			}
		})
		if !failed.Load() {
			return nil
		}
		for i, s := range in { // the first error counts
			if y[i], err = decodeBase64(s); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// decodeAll decodes strings. It is not ok if one is not in Base64.
func decodeAll(y, in []string) bool {
	var texts memory.Texts
	var b []byte
	for i, s := range in {
		s = withoutPadding(s)
		var ok bool
		if b, ok = appendDecoded(slices.Grow(b[:0], len(s)), s); !ok {
			return false
		}
		y[i] = texts.Of(b)
	}
	return true
}

// appendDecoded undoes appendBase64 without padding. It is not ok if s has another byte than
// digits, or a length that no text has.
func appendDecoded(b []byte, s string) (_ []byte, ok bool) {
	all := byte(0)
	for ; len(s) >= 4; s = s[4:] {
		v0, v1, v2, v3 := values[s[0]], values[s[1]], values[s[2]], values[s[3]]
		all |= v0 | v1 | v2 | v3
		b = append(b, v0<<2|v1>>4, v1<<4|v2>>2, v2<<6|v3)
	}
	switch len(s) {
	case 1:
		return b, false
	case 2, 3:
		v0, v1 := values[s[0]], values[s[1]]
		all |= v0 | v1
		b = append(b, v0<<2|v1>>4)
		if len(s) == 3 {
			v2 := values[s[2]]
			all |= v2
			b = append(b, v1<<4|v2>>2)
		}
	}
	return b, all < byte(len(digits))
}

// withoutPadding returns s without what fills it up: only whole texts are padded.
func withoutPadding(s string) string {
	if n := len(s); n > 0 && n%4 == 0 {
		for i := 0; i < 2 && strings.HasSuffix(s, "="); i++ {
			s = s[:len(s)-1]
		}
	}
	return s
}

// decodeBase64 decodes s, or says what is wrong with it.
func decodeBase64(s string) (string, error) {
	s = withoutPadding(s)
	// The decoder would skip the ends of lines.
	b, err := base64.RawURLEncoding.DecodeString(s)
	if strings.ContainsAny(s, "\r\n") || err != nil && len(s)%4 != 1 || strings.ContainsAny(s, "=+/") {
		return "", invalid("Invalid character found in base64.")
	}
	if err != nil {
		return "", invalid("Base64 string length cannot be 1 modulo 4.")
	}
	return string(b), nil
}
