package text

import (
	"encoding/base64"
	"strings"

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
	e := base64.RawURLEncoding
	if n.Bool("pad") {
		e = base64.URLEncoding
	}
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		in, y := core.Data[string](c.Input(0)), core.Data[string](out)
		c.ParallelFor(len(y), grain, func(lo, hi int) {
			var texts memory.Texts
			var from, to []byte
			for i := lo; i < hi; i++ {
				core.Room(e.EncodedLen(len(in[i])))
				from = append(from[:0], in[i]...)
				to = e.AppendEncode(to[:0], from)
				y[i] = texts.Of(to)
			}
		})
		return nil
	}), nil
}

func decodeBase64Kernel(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		y := core.Data[string](out)
		for i, s := range core.Data[string](c.Input(0)) {
			if y[i], err = decodeBase64(s); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func decodeBase64(s string) (string, error) {
	if n := len(s); n > 0 && n%4 == 0 { // only whole texts are padded
		for i := 0; i < 2 && strings.HasSuffix(s, "="); i++ {
			s = s[:len(s)-1]
		}
	}
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
