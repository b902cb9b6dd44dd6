package image

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in, types, threshold = "boxes: T; scores: T; max_output_size: int32", "T: {half, float} = DT_FLOAT", "; T_threshold: {half, float} = DT_FLOAT"
	const pad = "; pad_to_max_output_size: bool = false"
	ofTypes := core.ByType("T", forTypes(suppressKernel, tf.Float16, tf.Float32))
	for _, d := range []core.OpDef{
		{Name: "NonMaxSuppression", In: "boxes: float; scores: float; max_output_size: int32", Out: "selected_indices: int32",
			Attrs: "iou_threshold: float = 0.5", NoGrad: core.NotDifferentiable, Kernels: core.AnyType(suppressKernel)},
		{Name: "NonMaxSuppressionV2", In: in + "; iou_threshold: T_threshold", Out: "selected_indices: int32",
			Attrs: types + threshold, NoGrad: core.NotDifferentiable, Kernels: ofTypes},
		{Name: "NonMaxSuppressionV3", In: in + "; iou_threshold: T_threshold; score_threshold: T_threshold", Out: "selected_indices: int32",
			Attrs: types + threshold, Kernels: ofTypes},
		{Name: "NonMaxSuppressionV4", In: in + "; iou_threshold: T_threshold; score_threshold: T_threshold",
			Out: "selected_indices: int32; valid_outputs: int32", Attrs: types + threshold + pad, Kernels: ofTypes},
		{Name: "NonMaxSuppressionV5", In: in + "; iou_threshold: T; score_threshold: T; soft_nms_sigma: T",
			Out: "selected_indices: int32; selected_scores: T; valid_outputs: int32", Attrs: types + pad, Kernels: ofTypes},
		{Name: "NonMaxSuppressionWithOverlaps", In: "overlaps: float; scores: float; max_output_size: int32; overlap_threshold: float; score_threshold: float",
			Out: "selected_indices: int32", NoGrad: core.NotDifferentiable, Kernels: core.AnyType(suppressKernel)},
	} {
		d.Shape = suppressShape
		if d.NoGrad == 0 {
			d.NoGrad = core.NoGradientDefined
		}
		core.Register(d)
	}
}

// PadOpts is an optional attribute of NonMaxSuppressionV4 and V5: the results
// have max_output_size elements, of which those after the valid ones are 0.
type PadOpts struct{ ToMaxOutputSize bool }

// Apply sets the attribute.
func (o PadOpts) Apply(s *tf.Spec) { s.Set("pad_to_max_output_size", o.ToMaxOutputSize) }

// NonMaxSuppression returns the indices of at most size of the boxes [n 4],
// the one of the greatest score first, without boxes that overlap a better
// one by more than threshold of the area of both. boxes are float32 [n 4],
// two opposite corners in any order; scores are float32 [n] and size is an
// int32 scalar; the result is int32 [m]. Boxes without area overlap nothing.
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step. A negative size and a threshold outside
// [0, 1] fail with INVALID_ARGUMENT in the step.
func NonMaxSuppression(boxes, scores, size tf.Output, threshold float32, opts ...tf.Option) tf.Output {
	return apply("NonMaxSuppression", tf.Join(opts, tf.Attr("iou_threshold", threshold)), boxes, scores, size)
}

// NonMaxSuppressionV2 is NonMaxSuppression with the threshold as an input.
// boxes and scores have one type, float32 or float16; threshold is a scalar
// of one of them. Errors are those of NonMaxSuppression.
func NonMaxSuppressionV2(boxes, scores, size, threshold tf.Output, opts ...tf.Option) tf.Output {
	return apply("NonMaxSuppressionV2", opts, boxes, scores, size, threshold)
}

// NonMaxSuppressionV3 also leaves boxes out whose score is not greater than
// least. Inputs and errors are those of NonMaxSuppressionV2; least is a
// scalar of the type of threshold.
func NonMaxSuppressionV3(boxes, scores, size, threshold, least tf.Output, opts ...tf.Option) tf.Output {
	return apply("NonMaxSuppressionV3", opts, boxes, scores, size, threshold, least)
}

// NonMaxSuppressionV4 is NonMaxSuppressionV3 whose result may be padded;
// valid is how many indices count. valid is an int32 scalar. Inputs and
// errors are those of NonMaxSuppressionV3. Its options are [PadOpts].
func NonMaxSuppressionV4(boxes, scores, size, threshold, least tf.Output, opts ...tf.Option) (indices, valid tf.Output) {
	o := tf.Apply(nil, "NonMaxSuppressionV4", []tf.Output{boxes, scores, size, threshold, least}, opts...)
	return o.Output(0), o.Output(1)
}

// NonMaxSuppressionV5 lets boxes that overlap a better one lose a part of
// their score, if sigma is positive, in place of leaving them out. The method
// is Soft-NMS with Gaussian weights (Bodla et al., ICCV 2017,
// arXiv:1704.04503). All inputs but size have one type, float32 or float16,
// which selected, the scores, keeps; indices and valid are int32. A negative
// sigma fails with INVALID_ARGUMENT in the step; other errors are those of
// NonMaxSuppressionV4. Its options are [PadOpts].
func NonMaxSuppressionV5(boxes, scores, size, threshold, least, sigma tf.Output, opts ...tf.Option) (indices, selected, valid tf.Output) {
	o := tf.Apply(nil, "NonMaxSuppressionV5", []tf.Output{boxes, scores, size, threshold, least, sigma}, opts...)
	return o.Output(0), o.Output(1), o.Output(2)
}

// NonMaxSuppressionWithOverlaps is NonMaxSuppressionV3 with a matrix [n n]
// that says how similar any two boxes are. All inputs are float32 but size,
// which is int32; the result is int32 [m]. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A negative size fails with INVALID_ARGUMENT in the step; threshold
// may be any number.
func NonMaxSuppressionWithOverlaps(overlaps, scores, size, threshold, least tf.Output, opts ...tf.Option) tf.Output {
	return apply("NonMaxSuppressionWithOverlaps", opts, overlaps, scores, size, threshold, least)
}

// suppressShape serves all of them.
func suppressShape(c *core.Infer) error {
	boxes, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	scores, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	for i := 2; i < c.NumIn(); i++ {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	if boxes[0] >= 0 && scores[0] >= 0 && boxes[0] != scores[0] {
		return invalid("Dimensions must be equal, but are %d and %d", boxes[0], scores[0])
	}
	if c.OpName() == "NonMaxSuppressionWithOverlaps" {
		if boxes[0] >= 0 && boxes[1] >= 0 && boxes[0] != boxes[1] {
			return invalid("Dimensions must be equal, but are %d and %d", boxes[0], boxes[1])
		}
	} else if boxes[1] >= 0 && boxes[1] != 4 {
		return invalid("Dimension must be 4 but is %d", boxes[1])
	}
	n := -1
	if v, ok := c.ConstInts(2); ok && c.Bool("pad_to_max_output_size") {
		if n = v[0]; n < 0 {
			return invalid("Dimension size, given by scalar input 2, must be non-negative but is %d", n)
		}
	}
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{n})
	}
	if last := c.NumOut() - 1; last > 0 {
		c.Set(last, tf.Shape{})
	}
	return nil
}

// suppressKernel is that of all versions.
func suppressKernel(n *core.Node) (core.Kernel, error) {
	pad := n.Bool("pad_to_max_output_size")
	return core.Compute(func(c *core.OpContext) error {
		s, err := newSelection(c)
		if err != nil {
			return err
		}
		boxes, scores := s.run()
		size := len(boxes)
		if pad {
			size = s.limit
		}
		return putSelection(c, boxes, scores, size)
	}), nil
}

// putSelection makes the outputs, as many as the op has, with zeros up to size.
func putSelection(c *core.OpContext, boxes []int32, scores []float32, size int) error {
	out, err := c.Alloc(0, tf.Int32, tf.Shape{size})
	if err != nil {
		return err
	}
	clear(core.Data[int32](out)[copy(core.Data[int32](out), boxes):])
	if len(c.Out) == 3 {
		y, store, err := output(c, 1, c.Input(1).DType(), tf.Shape{size})
		if err != nil {
			return err
		}
		clear(y[copy(y, scores):])
		store()
	}
	last := len(c.Out) - 1
	if last == 0 {
		return nil
	}
	if out, err = c.Alloc(last, tf.Int32, tf.Shape{}); err == nil {
		core.Data[int32](out)[0] = int32(len(boxes))
	}
	return err
}

// newSelection reads and checks the inputs.
func newSelection(c *core.OpContext) (*selection, error) {
	op := c.Node.OpName()
	s := &selection{threshold: c.Node.Float("iou_threshold"), least: -math.MaxFloat32, round: exactly}
	if c.Input(0).DType() == tf.Float16 {
		s.round, s.halves, s.least = toHalf, true, -65504
	}
	names := []string{"max_output_size", "iou_threshold", "score_threshold", "soft_nms_sigma"}
	overlaps := op == "NonMaxSuppressionWithOverlaps"
	if overlaps {
		names[1] = "overlap_threshold"
	}
	into := []*float32{nil, &s.threshold, &s.least, &s.sigma}
	for i, name := range names[:c.Inputs()-2] {
		t := c.Input(2 + i)
		if t.Rank() != 0 {
			return nil, notScalar(op, name, t.Shape())
		}
		if into[i] != nil {
			*into[i] = s.round(inFloat32(c, t)[0])
		}
		if i == 1 && !overlaps && !(s.threshold >= 0 && s.threshold <= 1) {
			return nil, invalid("iou_threshold must be in [0, 1]")
		}
	}
	if op == "NonMaxSuppression" && !(s.threshold >= 0 && s.threshold <= 1) {
		return nil, invalid("iou_threshold must be in [0, 1]")
	}
	if !(s.sigma >= 0) {
		return nil, invalid("soft_nms_sigma_val must be >= 0")
	}
	if err := s.readBoxes(c, c.Input(0), c.Input(1).Shape(), overlaps); err != nil {
		return nil, err
	}
	s.scores = inFloat32(c, c.Input(1))
	if s.limit = int(core.Data[int32](c.Input(2))[0]); s.limit < 0 {
		return nil, invalid("output size must be non-negative")
	}
	return s, nil
}

// notScalar tells that an input is not one; two of the third version's say more.
func notScalar(op, name string, s tf.Shape) error {
	if op == "NonMaxSuppressionV3" && name != "score_threshold" {
		return invalid("%s must be 0-D, got shape %s (Shape must be rank 0 but is rank %d)", name, s.String(), len(s))
	}
	return invalid("%s must be 0-D, got shape %s", name, s.String())
}

// readBoxes checks boxes, or how they overlap, and the shape of their scores.
func (s *selection) readBoxes(c *core.OpContext, t *core.Tensor, scores tf.Shape, overlaps bool) error {
	shape := t.Shape()
	switch {
	case overlaps && len(shape) != 2:
		return invalid("overlaps must be 2-D%s", shape.String())
	case overlaps && shape[0] != shape[1]:
		return invalid("overlaps must be square%s", shape.String())
	case len(shape) != 2:
		return invalid("boxes must be 2-D%s (Shape must be rank 2 but is rank %d)", shape.String(), len(shape))
	case !overlaps && shape[1] != 4:
		return invalid("boxes must have 4 columns (Dimension must be 4 but is %d)", shape[1])
	case len(scores) != 1:
		return invalid("scores must be 1-D%s (Shape must be rank 1 but is rank %d)", scores.String(), len(scores))
	case scores[0] != shape[0]:
		return invalid("scores has incompatible shape (Dimensions must be equal, but are %d and %d)", shape[0], scores[0])
	}
	v := inFloat32(c, t)
	if overlaps {
		s.similar = func(i, j int) float32 { return v[i*shape[0]+j] }
		return nil
	}
	s.compareBoxes(boxesOf(v))
	return nil
}
