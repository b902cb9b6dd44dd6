package image

import (
	"cmp"
	"context"
	"math"

	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const in, out, types = "image_size: T; bounding_boxes: float", "begin: T; size: T; bboxes: float", "T: {uint8, int8, int16, int32, int64}; "
	const seeds, ranges = "seed: int = 0; seed2: int = 0; ",
		"aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"
	kernels := core.ByType("T", map[tf.DType]core.NewKernel{
		tf.Uint8: distortedKernel[uint8], tf.Int8: distortedKernel[int8], tf.Int16: distortedKernel[int16],
		tf.Int32: distortedKernel[int32], tf.Int64: distortedKernel[int64],
	})
	core.Register(core.OpDef{
		Name: "SampleDistortedBoundingBox", In: in, Out: out, Attrs: types + seeds + "min_object_covered: float = 0.1; " + ranges,
		Stateful: true, Shape: distortedShape, NoGrad: core.NotDifferentiable, Kernels: kernels,
	})
	core.Register(core.OpDef{
		Name: "SampleDistortedBoundingBoxV2", In: in + "; min_object_covered: float", Out: out, Attrs: types + seeds + ranges,
		Stateful: true, Shape: distortedShape, NoGrad: core.NotDifferentiable, Kernels: kernels,
	})
	core.Register(core.OpDef{
		Name: "StatelessSampleDistortedBoundingBox", In: in + "; min_object_covered: float; seed: Tseed", Out: out,
		Attrs: types + "Tseed: {int32, int64}; " + ranges, Shape: distortedShape, NoGrad: core.NoGradientDefined, Kernels: kernels,
	})
}

// DistortedOpts are the optional attributes of the ops that draw parts of
// images; what is zero is as without them.
type DistortedOpts struct {
	AspectRatios [2]float32 // of width to height: 0.75 to 1.33
	Areas        [2]float32 // as parts of the image's: 0.05 to 1
	MaxAttempts  int        // before the whole image is taken: 100
	WholeImage   bool       // it is the box if there is none
}

// Apply sets the attributes.
func (o DistortedOpts) Apply(s *tf.Spec) {
	if o.AspectRatios != [2]float32{} {
		s.Set("aspect_ratio_range", o.AspectRatios[:])
	}
	if o.Areas != [2]float32{} {
		s.Set("area_range", o.Areas[:])
	}
	if o.MaxAttempts != 0 {
		s.Set("max_attempts", o.MaxAttempts)
	}
	s.Set("use_image_if_no_bounding_boxes", o.WholeImage)
}

// SampleDistortedBoundingBoxV2 draws a part of an image of the given height,
// width and channels that covers at least covered, a scalar, of one of the
// boxes [1,n,4]. It returns begin and size for Slice, and the part as a box
// [1,1,4]. Option ops.RandomOpts sets the seed. size is a vector
// [height width channels] of uint8, int8, int16, int32 or int64, which begin
// and size keep; covered is float32. After MaxAttempts draws that do not fit
// the part is the whole image. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Coordinates outside [0, 1], no boxes without WholeImage, a negative
// covered, and ranges of options that are not positive fail with
// INVALID_ARGUMENT in the step. Its options are [DistortedOpts].
func SampleDistortedBoundingBoxV2(size, boxes, covered tf.Output, opts ...tf.Option) (begin, extent, box tf.Output) {
	return drawn("SampleDistortedBoundingBoxV2", seededFrom(size, opts), size, boxes, covered)
}

// SampleDistortedBoundingBox is SampleDistortedBoundingBoxV2 with the least
// part of a box as an attribute. Types, results and errors are those of
// SampleDistortedBoundingBoxV2. Its options are [DistortedOpts].
func SampleDistortedBoundingBox(size, boxes tf.Output, covered float32, opts ...tf.Option) (begin, extent, box tf.Output) {
	own := tf.Join(seededFrom(size, opts), tf.Attr("min_object_covered", covered))
	return drawn("SampleDistortedBoundingBox", own, size, boxes)
}

// StatelessSampleDistortedBoundingBox draws by a seed, two integers: equal
// seeds give equal parts. seed is an int32 or int64 vector [2]; another shape
// is refused with INVALID_ARGUMENT. Other types, results and errors are those
// of SampleDistortedBoundingBoxV2. Its options are [DistortedOpts].
func StatelessSampleDistortedBoundingBox(size, boxes, covered, seed tf.Output, opts ...tf.Option) (begin, extent, box tf.Output) {
	return drawn("StatelessSampleDistortedBoundingBox", opts, size, boxes, covered, seed)
}

func drawn(op string, opts []tf.Option, in ...tf.Output) (begin, size, box tf.Output) {
	o := tf.Apply(nil, op, in, opts...)
	return o.Output(0), o.Output(1), o.Output(2)
}

// seededFrom sets seed and seed2 by the rule of TensorFlow's clients.
func seededFrom(x tf.Output, opts []tf.Option) []tf.Option {
	if x.Graph() == nil {
		return opts
	}
	var own *int64
	for _, o := range opts {
		if r, ok := o.(ops.RandomOpts); ok {
			own = r.Seed
		}
	}
	seed, seed2 := x.Graph().Seeds(own)
	return tf.Join(opts, tf.Attr("seed", seed), tf.Attr("seed2", seed2))
}

func distortedShape(c *core.Infer) error {
	size, err := c.Rank(0, 1)
	if err != nil {
		return err
	}
	boxes, err := c.Rank(1, 3)
	if err != nil {
		return err
	}
	if c.NumIn() > 2 {
		if _, err := c.Rank(2, 0); err != nil {
			return err
		}
	}
	want := []struct{ got, size int }{{size[0], 3}, {boxes[2], 4}}
	if c.NumIn() > 3 {
		seed, err := c.Rank(3, 1)
		if err != nil {
			return err
		}
		want = append(want, struct{ got, size int }{seed[0], 2})
	}
	for _, w := range want {
		if w.got >= 0 && w.got != w.size {
			return invalid("Dimension must be %d but is %d", w.size, w.got)
		}
	}
	for i, s := range []tf.Shape{{3}, {3}, {1, 1, 4}} {
		c.Set(i, s)
	}
	return nil
}

// A rect is a part of an image, in pixels.
type rect struct{ x0, y0, x1, y1 int }

func (r rect) area() float32 { return float32((r.x1 - r.x0) * (r.y1 - r.y0)) }

func (r rect) intersect(o rect) rect {
	i := rect{max(r.x0, o.x0), max(r.y0, o.y0), min(r.x1, o.x1), min(r.y1, o.y1)}
	if i.x0 > i.x1 || i.y0 > i.y1 {
		return rect{}
	}
	return i
}

// A sampling is how parts of images are drawn.
type sampling struct {
	ratios, areas [2]float32
	attempts      int
	covered       float32
	whole         bool
}

// newSampling reads and checks the attributes.
func newSampling(n *core.Node) (*sampling, error) {
	s := &sampling{attempts: n.Int("max_attempts"), covered: n.Float("min_object_covered"), whole: n.Bool("use_image_if_no_bounding_boxes")}
	if err := cmp.Or(n.CheckInt32s("max_attempts"), s.checkCovered()); err != nil {
		return nil, err
	}
	ratios, _ := n.Attr("aspect_ratio_range").([]float32)
	areas, _ := n.Attr("area_range").([]float32)
	switch {
	case len(ratios) != 2:
		return nil, invalid("Aspect ratio range field must specify 2 dimensions")
	case !(ratios[0] > 0 && ratios[1] > 0):
		return nil, invalid("Aspect ratio range must be non-negative: [%g, %g]", ratios[0], ratios[1])
	case len(areas) != 2:
		return nil, invalid("Area range field must specify 2 dimensions")
	case !(areas[0] > 0 && areas[1] > 0):
		return nil, invalid("Area range must be non-negative: [%g, %g]", areas[0], areas[1])
	case !(areas[0] <= 1 && areas[1] <= 1):
		return nil, invalid("Area range must be less then or equal to 1.0: [%g, %g]", areas[0], areas[1])
	case s.attempts <= 0:
		return nil, invalid("Max attempts must be non-negative: %d", s.attempts)
	}
	s.ratios, s.areas = [2]float32(ratios), [2]float32(areas)
	return s, nil
}

func (s *sampling) checkCovered() error {
	if !(s.covered >= 0) {
		return invalid("Min object covered must be non-negative: %g", s.covered)
	}
	return nil
}

// round is how C rounds: half to even.
func round(x float32) int { return int(math.RoundToEven(float64(x))) }

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// part draws a part of an image with the given ratio of width to height.
func (s *sampling) part(width, height int, ratio float32, w *random.Words) (r rect, ok bool) {
	if width <= 0 || height <= 0 || s.areas[0] > s.areas[1] || !(ratio > 0) {
		return r, false
	}
	least, most := s.areas[0]*float32(width)*float32(height), s.areas[1]*float32(width)*float32(height)
	h, highest := round(sqrt(least/ratio)), round(sqrt(most/ratio))
	if wide := func() bool { return round(float32(highest)*ratio) > width }; wide() {
		const eps = float32(0.0000001)
		highest = int((float64(width) + 0.5 - float64(eps)) / float64(ratio))
		if wide() {
			highest--
		}
	}
	highest = min(highest, height)
	if h = min(h, highest); h < highest {
		h += int(w.Below32(uint32(highest - h + 1)))
	}
	across := round(float32(h) * ratio)
	if float32(across*h) < least {
		h++
		across = round(float32(h) * ratio)
	}
	if float32(across*h) > most {
		h--
		across = round(float32(h) * ratio)
	}
	if a := float32(across * h); a < least || a > most || across > width || h > height || across <= 0 || h <= 0 {
		return r, false
	}
	if h < height {
		r.y0 = int(w.Below32(uint32(height - h)))
	}
	if across < width {
		r.x0 = int(w.Below32(uint32(width - across)))
	}
	r.x1, r.y1 = r.x0+across, r.y0+h
	return r, true
}

// covers reports whether a part covers enough of one of the boxes.
func (s *sampling) covers(r rect, boxes []rect) bool {
	if r.area() < 1 {
		return false
	}
	for _, b := range boxes {
		if a := b.area(); a >= 1 && r.intersect(b).area()/a >= s.covered {
			return true
		}
	}
	return false
}

// draw draws a part; if no attempt succeeds, that is the whole image. As there may be
// billions of attempts, it looks now and then whether the step has ended.
func (s *sampling) draw(step context.Context, width, height int, boxes []rect, base random.Philox) (rect, error) {
	w := random.NewWords(base)
	for i := range s.attempts {
		if i%(1<<16) == 1<<16-1 && step.Err() != nil {
			return rect{}, step.Err()
		}
		ratio := w.Float32()*(s.ratios[1]-s.ratios[0]) + s.ratios[0]
		if r, ok := s.part(width, height, ratio, w); ok && s.covers(r, boxes) {
			return r, nil
		}
	}
	return rect{0, 0, width, height}, nil
}

// checkBoxes checks the shape of boxes.
func checkBoxes(s tf.Shape) error {
	switch {
	case len(s) != 3:
		return invalid("input boxes must be 3-dimensional [batch, num_boxes, coords]: %s", s.String())
	case s[2] != 4:
		return invalid("bounding boxes must have shape [4] or [*, 4], got %s", s.String())
	}
	return nil
}

// boxes reads the boxes in pixels.
func (s *sampling) boxes(t *core.Tensor, width, height int) (out []rect, err error) {
	v := core.Data[float32](t)
	for i := 0; i < len(v); i += 4 {
		for _, x := range v[i : i+4] {
			if !(x >= 0 && x <= 1) {
				return nil, invalid("All bounding box coordinates must be in [0.0, 1.0]: %g", x)
			}
		}
		w, h := float32(width), float32(height)
		out = append(out, rect{int(v[i+1] * w), int(v[i] * h), int(v[i+3] * w), int(v[i+2] * h)})
	}
	if len(out) == 0 {
		if !s.whole {
			return nil, invalid("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes.")
		}
		out = []rect{{0, 0, width, height}}
	}
	return out, nil
}

// A pixelCount is a type that sizes of images may have.
type pixelCount interface {
	uint8 | int8 | int16 | int32 | int64
}

// imageSize reads height and width.
func imageSize[T pixelCount](t *core.Tensor) (height, width int, err error) {
	switch {
	case t.Rank() != 1:
		return 0, 0, invalid("image_size must be 1-dimensional%s", t.Shape().String())
	case t.Len() != 3:
		return 0, 0, invalid("image_size must contain 3 elements%s", t.Shape().String())
	}
	v := core.Data[T](t)
	for i, name := range []string{"height", "width"} {
		if v[i] < 0 || int64(v[i]) >= math.MaxInt32 {
			return 0, 0, invalid("image %s cannot be >= int32 max", name)
		}
	}
	return int(v[0]), int(v[1]), nil
}

func distortedKernel[T pixelCount](n *core.Node) (core.Kernel, error) {
	s, err := newSampling(n)
	if err != nil {
		return nil, err
	}
	source := random.NewGenerator(int64(n.Int("seed")), int64(n.Int("seed2")))
	return core.Compute(func(c *core.OpContext) error {
		var base random.Philox
		if c.Inputs() > 3 {
			seed := c.Input(3)
			if seed.Rank() != 1 || seed.Len() != 2 {
				return invalid("seed must have shape [2], not %s", seed.Shape().String())
			}
			v, err := seed.Ints()
			if err != nil {
				return err
			}
			base = random.FromSeed([2]int64{int64(v[0]), int64(v[1])})
		} else {
			base = source.ReserveBlocks(uint64(s.attempts))
		}
		return distort[T](c, *s, base)
	}), nil
}

// distort draws a part and makes the outputs.
func distort[T pixelCount](c *core.OpContext, s sampling, base random.Philox) error {
	height, width, err := imageSize[T](c.Input(0))
	if err != nil {
		return err
	}
	if err := checkBoxes(c.Input(1).Shape()); err != nil {
		return err
	}
	if c.Inputs() > 2 {
		covered := c.Input(2)
		if covered.Rank() != 0 {
			return invalid("min_object_covered must be 0-D, got shape %s", covered.Shape().String())
		}
		s.covered = core.Data[float32](covered)[0]
		if err := s.checkCovered(); err != nil {
			return err
		}
	}
	boxes, err := s.boxes(c.Input(1), width, height)
	if err != nil {
		return err
	}
	r, err := s.draw(c.StepContext(), width, height, boxes, base)
	if err != nil {
		return err
	}
	box := []float32{
		float32(r.y0) / float32(height), float32(r.x0) / float32(width), float32(r.y1) / float32(height), float32(r.x1) / float32(width),
	}
	for i, v := range [][]int{{r.y0, r.x0, 0}, {r.y1 - r.y0, r.x1 - r.x0, -1}} {
		out, err := c.Alloc(i, c.Input(0).DType(), tf.Shape{3})
		if err != nil {
			return err
		}
		for k, n := range v {
			core.Data[T](out)[k] = T(n)
		}
	}
	out, err := c.Alloc(2, tf.Float32, tf.Shape{1, 1, 4})
	if err == nil {
		copy(core.Data[float32](out), box)
	}
	return err
}
