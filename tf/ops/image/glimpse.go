package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for name, why := range map[string]core.NoGrad{"ExtractGlimpse": core.NotDifferentiable, "ExtractGlimpseV2": core.NoGradientDefined} {
		core.Register(core.OpDef{
			Name: name, In: "input: float; size: int32; offsets: float", Out: "glimpse: float",
			Attrs: "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'",
			Shape: glimpseShape, NoGrad: why, Kernels: core.AnyType(glimpseKernel),
		})
	}
}

// GlimpseOpts are the optional attributes of ExtractGlimpse: how places are
// told, and what is beyond the edges: uniform noise (the default), gaussian or
// zero.
type GlimpseOpts struct {
	FromCorner bool // places are not told from the center of the image
	InPixels   bool // distances are not parts of the image's size
	Noise      string
}

// Apply sets the attributes.
func (o GlimpseOpts) Apply(s *tf.Spec) {
	s.Set("centered", !o.FromCorner)
	s.Set("normalized", !o.InPixels)
	if o.Noise != "" {
		s.Set("noise", o.Noise)
		s.Set("uniform_noise", o.Noise == "uniform")
	}
}

// ExtractGlimpse returns a part of each image of input, of the given height
// and width, around the place in its row, y and x, of offsets. Glimpses are
// those of Mnih et al. (NIPS 2014, arXiv:1406.6247). input is float32 [batch
// height width channels], size an int32 vector of two elements that are not
// negative, and offsets float32 [batch 2]; the result is float32 [batch
// size[0] size[1] channels]. Other shapes are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step. Noise other
// than uniform, gaussian and zero is refused with INVALID_ARGUMENT in the
// step. Its options are [GlimpseOpts].
func ExtractGlimpse(input, size, offsets tf.Output, opts ...tf.Option) tf.Output {
	return apply("ExtractGlimpse", opts, input, size, offsets)
}

// ExtractGlimpseV2 is ExtractGlimpse, but offsets in pixels are those of the
// part's corner. Shapes and errors are those of ExtractGlimpse.
// Its options are [GlimpseOpts].
func ExtractGlimpseV2(input, size, offsets tf.Output, opts ...tf.Option) tf.Output {
	return apply("ExtractGlimpseV2", opts, input, size, offsets)
}

// noiseOf returns the kind of noise.
func noiseOf(n *core.Node) (string, error) {
	noise, uniform := n.Str("noise"), n.Bool("uniform_noise")
	switch {
	case noise == "" && uniform:
		return "uniform", nil
	case noise == "":
		return "gaussian", nil
	case uniform && noise != "uniform":
		return "", invalid("The uniform_noise and noise could not be specified at the same time")
	case noise == "uniform" || noise == "gaussian" || noise == "zero":
		return noise, nil
	}
	return "", invalid("The noise could only be uniform, gaussian, or zero, got%s", noise)
}

func glimpseShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	offsets, err := c.Rank(2, 2)
	switch {
	case err != nil:
		return err
	case s[0] >= 0 && offsets[0] >= 0 && s[0] != offsets[0]:
		return invalid("Dimensions must be equal, but are %d and %d", s[0], offsets[0])
	case offsets[1] >= 0 && offsets[1] != 2:
		return invalid("Dimension must be 2 but is %d", offsets[1])
	case c.Bool("uniform_noise") && c.Str("noise") != "" && c.Str("noise") != "uniform":
		return invalid("The uniform_noise and noise should not be specified at the same time")
	}
	h, w, err := sizesAt(c, 1)
	if err == nil {
		c.Set(0, tf.Shape{max(s[0], offsets[0]), h, w, s[3]})
	}
	return err
}

// A glimpse is what ExtractGlimpse has to do.
type glimpse struct {
	in, out              tf.Shape
	first                bool // version
	normalized, centered bool
	noise                string
}

// newGlimpse checks the inputs.
func newGlimpse(c *core.OpContext, noise string) (*glimpse, error) {
	s, size, offsets := c.Input(0).Shape(), c.Input(1), c.Input(2).Shape()
	switch {
	case len(s) != 4:
		return nil, invalid("input must be 4-dimensional (batch_size, height, width, depth)%s", s.String())
	case size.Rank() != 1 || size.Len() != 2:
		return nil, invalid("input must be a vector of size 2 (height, width)%s", size.Shape().String())
	}
	h, w := int(core.Data[int32](size)[0]), int(core.Data[int32](size)[1])
	switch {
	case h < 0 || w < 0:
		return nil, invalid("Expected a non-negative size, got %d", min(h, w))
	case len(offsets) != 2:
		return nil, invalid("input must be a matrix%s", offsets.String())
	case offsets[0] != s[0]:
		return nil, invalid("first dimension should be batch%s", offsets.String())
	case offsets[1] != 2:
		return nil, invalid("second dimension should be of size 2 (y,x)%s", offsets.String())
	}
	return &glimpse{
		in: s, out: tf.Shape{s[0], h, w, s[3]}, noise: noise, first: c.Node.OpName() == "ExtractGlimpse",
		normalized: c.Node.Bool("normalized"), centered: c.Node.Bool("centered"),
	}, nil
}

// start returns the pixel that a glimpse begins at, in dimension d of the image.
func (g *glimpse) start(at float32, d int) int {
	in, out := float32(g.in[d]), float32(g.out[d])
	if g.normalized {
		at *= in
	}
	switch {
	case !g.centered:
	case g.first || g.normalized:
		at = at/2 + in/2
	default:
		at += in / 2
	}
	if g.first || g.normalized && g.centered {
		at -= out / 2
	}
	if !(at > -1<<30) { // not a number too
		return -1 << 30
	}
	return int(min(at, 1<<30))
}

// overlapping returns how many pixels of a glimpse are inside of the image, and
// where they begin in both; partial tells whether there is noise beside them.
func (g *glimpse) overlapping(start, d int) (from, to, n int, partial bool) {
	in, out := g.in[d], g.out[d]
	switch {
	case start < 0:
		n = max(0, out+start)
		return 0, out - n, min(n, in), true
	case start+out >= in:
		return start, 0, max(0, in-start), true
	}
	return start, 0, out, false
}

func glimpseKernel(n *core.Node) (core.Kernel, error) {
	noise, err := noiseOf(n)
	if err != nil {
		return nil, err
	}
	source := random.NewGenerator(0, 0)
	return core.Compute(func(c *core.OpContext) error {
		g, err := newGlimpse(c, noise)
		if err != nil {
			return err
		}
		y, _, err := output(c, 0, tf.Float32, g.out)
		if err != nil || len(y) == 0 {
			return err
		}
		x, offsets := core.Data[float32](c.Input(0)), core.Data[float32](c.Input(2))
		in, out := len(x)/g.in[0], len(y)/g.out[0]
		for i := range g.in[0] {
			g.take(y[i*out:(i+1)*out], x[i*in:(i+1)*in], offsets[2*i:], source)
		}
		return nil
	}), nil
}

// take computes the glimpse of one image.
func (g *glimpse) take(y, x, offset []float32, source *random.Generator) {
	fromY, toY, rows, partial := g.overlapping(g.start(offset[0], 1), 1)
	fromX, toX, columns, beside := g.overlapping(g.start(offset[1], 2), 2)
	if partial || beside {
		g.fill(y, x, source)
	}
	depth := g.in[3]
	if columns == 0 {
		return
	}
	for r := range rows {
		from := ((fromY+r)*g.in[2] + fromX) * depth
		to := ((toY+r)*g.out[2] + toX) * depth
		copy(y[to:][:columns*depth], x[from:])
	}
}

// fill fills a glimpse with noise of the range, or the distribution, of the
// image's numbers.
func (g *glimpse) fill(y, x []float32, source *random.Generator) {
	clear(y)
	if g.noise == "zero" || len(x) == 0 {
		return
	}
	base := source.Reserve(len(y))
	if g.noise == "uniform" {
		low, high := limits(x, 0, 1)
		random.UniformFloat32(base, 0, y)
		for i := range y {
			y[i] = low + y[i]*(high-low)
		}
		return
	}
	random.NormalFloat32(base, 0, y)
	depth := g.in[3]
	for ch := range depth {
		low, high := limits(x, ch, depth)
		mean, deviation := moments(x, ch, depth)
		for i := ch; i < len(y); i += depth {
			y[i] = max(low, min(high, mean+y[i]*deviation))
		}
	}
}

// limits returns the least and the greatest of every step-th number.
func limits(x []float32, first, step int) (low, high float32) {
	low, high = x[first], x[first]
	for i := first; i < len(x); i += step {
		low, high = min(low, x[i]), max(high, x[i])
	}
	return low, high
}

// moments returns mean and deviation of every step-th number.
func moments(x []float32, first, step int) (mean, deviation float32) {
	var sum, squares float64
	n := float64(len(x) / step)
	for i := first; i < len(x); i += step {
		sum += float64(x[i])
		squares += float64(x[i]) * float64(x[i])
	}
	variance := max(0, squares/n-sum/n*sum/n)
	return float32(sum / n), float32(math.Sqrt(variance))
}
