package image

import (
	"github.com/gorge-tf/gorge/internal/imagefile"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "EncodePng", In: "image: T", Out: "contents: string", Attrs: "compression: int = -1; T: {uint8, uint16} = DT_UINT8",
		Shape: encodedShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", forTypes(encodePNGKernel, tf.Uint8, tf.Uint16)),
	})
}

// EncodePng returns an image [height width channels], or several in
// dimensions before these, as the bytes of PNG files. The format is that of
// RFC 2083. The image is uint8 or uint16 with 1 to 4 channels; the result has
// type string and the shape of the dimensions before. A rank below 3 is
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step; so are, in the step, other channels and a compression outside
// [-1, 9]. Images without pixels fail with INTERNAL, as in TensorFlow.
func EncodePng(image tf.Output, opts ...tf.Option) tf.Output { return apply("EncodePng", opts, image) }

func encodedShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	if len(s) < 3 {
		return invalid("Shape must be at least rank 3 but is rank %d", len(s))
	}
	c.Set(0, s[:len(s)-3])
	return nil
}

func encodePNGKernel(n *core.Node) (core.Kernel, error) {
	level := n.Int("compression")
	if level < -1 || level > 9 {
		return nil, invalid("compression should be in [-1,9], got %d", level)
	}
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		s := in.Shape()
		if len(s) < 3 {
			return invalid("images must be at least rank 3%s", s.String())
		}
		h, w, channels := s[len(s)-3], s[len(s)-2], s[len(s)-1]
		if channels < 1 || channels > 4 {
			return invalid("image must have 1, 2, 3, or 4 channels, got %d", channels)
		}
		out, err := c.Alloc(0, tf.String, s[:len(s)-3].Clone())
		if err != nil {
			return err
		}
		if h == 0 || w == 0 {
			return tf.Errorf(tf.Internal, "PNG encoding failed: image has no pixels, shape%s", s.String())
		}
		bytes := bigEndian(in)
		for i := range out.Len() {
			size := len(bytes) / out.Len()
			if core.Data[string](out)[i], err = imagefile.EncodePNG(bytes[i*size:(i+1)*size], h, w, channels, level); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// bigEndian returns the bytes of samples as PNG has them.
func bigEndian(t *core.Tensor) []byte {
	if t.DType() == tf.Uint8 {
		return core.Data[uint8](t)
	}
	out := core.Make[byte](2 * t.Len())[:0]
	for _, v := range core.Data[uint16](t) {
		out = append(out, byte(v>>8), byte(v))
	}
	return out
}
