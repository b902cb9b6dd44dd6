package image

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name:  "CombinedNonMaxSuppression",
		In:    "boxes: float; scores: float; max_output_size_per_class: int32; max_total_size: int32; iou_threshold: float; score_threshold: float",
		Out:   "nmsed_boxes: float; nmsed_scores: float; nmsed_classes: float; valid_detections: int32",
		Attrs: "pad_per_class: bool = false; clip_boxes: bool = true",
		Shape: combinedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(computed(combined)),
	})
}

// CombinedOpts are the optional attributes of CombinedNonMaxSuppression.
type CombinedOpts struct {
	PadPerClass bool // the results are no longer than all classes together need
	Unclipped   bool // boxes are not cut off at 0 and 1
}

// Apply sets the attributes.
func (o CombinedOpts) Apply(s *tf.Spec) {
	s.Set("pad_per_class", o.PadPerClass)
	s.Set("clip_boxes", !o.Unclipped)
}

// CombinedNonMaxSuppression selects boxes [batch n q 4] of each class by
// scores [batch n classes], at most perClass of each and total of all; q is 1
// or the number of classes. It returns boxes [batch m 4], scores and classes
// [batch m], and how many of them are valid [batch]. boxes, scores, threshold
// and least are float32, perClass and total int32 scalars; valid is int32,
// the other results are float32, filled up with 0. Boxes of equal scores come
// in the order of classes, then of boxes; TensorFlow leaves their order to its
// C++ library. Other shapes are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step. A perClass or total that is
// not positive, and a threshold outside [0, 1], are refused with the same
// code. Its options are [CombinedOpts].
func CombinedNonMaxSuppression(boxes, scores, perClass, total, threshold, least tf.Output, opts ...tf.Option) (selected, selectedScores, classes, valid tf.Output) {
	o := tf.Apply(nil, "CombinedNonMaxSuppression", []tf.Output{boxes, scores, perClass, total, threshold, least}, opts...)
	return o.Output(0), o.Output(1), o.Output(2), o.Output(3)
}

func combinedShape(c *core.Infer) error {
	boxes, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	scores, err := c.Rank(1, 3)
	if err != nil {
		return err
	}
	for i := 2; i < 6; i++ {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	for i := range 2 {
		if boxes[i] >= 0 && scores[i] >= 0 && boxes[i] != scores[i] {
			return invalid("Dimensions must be equal, but are %d and %d", boxes[i], scores[i])
		}
	}
	switch {
	case boxes[3] >= 0 && boxes[3] != 4:
		return invalid("Dimension must be 4 but is %d", boxes[3])
	case boxes[2] >= 0 && scores[2] >= 0 && boxes[2] != 1 && boxes[2] != scores[2]:
		return invalid("third dimension of boxes must be either 1 or equal to the third dimension of scores")
	}
	n, err := combinedSize(c, scores[2])
	for i, s := range []tf.Shape{{boxes[0], n, 4}, {boxes[0], n}, {boxes[0], n}, {boxes[0]}} {
		c.Set(i, s)
	}
	return err
}

// combinedSize returns what is known of how many boxes are selected.
func combinedSize(c *core.Infer, classes int) (int, error) {
	total, known := c.ConstInts(3)
	if known && total[0] <= 0 {
		return -1, invalid("max_total_size should be > 0 ")
	}
	perClass, knownClass := c.ConstInts(2)
	switch {
	case !c.Bool("pad_per_class") && known:
		return total[0], nil
	case !c.Bool("pad_per_class"):
		return -1, nil
	case knownClass && perClass[0] <= 0:
		return -1, invalid("max_output_size_per_class must be > 0 if pad_per_class is set to true ")
	case known && knownClass && classes >= 0:
		return min(total[0], perClass[0]*classes), nil
	}
	return -1, nil
}

// A detection is a box that was selected for a class.
type detection struct {
	score float32
	class int
	box   []float32
}

// A combination is what CombinedNonMaxSuppression has to do.
type combination struct {
	boxes, scores   []float32
	n, q, classes   int
	perClass, total int
	threshold       float32
	least           float32
}

// newCombination reads and checks the inputs.
func newCombination(c *core.OpContext) (*combination, error) {
	b, s := c.Input(0).Shape(), c.Input(1).Shape()
	if len(b) == 0 || len(s) == 0 || b[0] != s[0] {
		return nil, invalid("boxes and scores must have same batch size")
	}
	for i, name := range []string{"max_size_per_class", "max_total_size", "iou_threshold", "score_threshold"} {
		t := c.Input(2 + i)
		if t.Rank() != 0 {
			return nil, invalid("%s must be 0-D, got shape %s", name, t.Shape().String())
		}
		if i < 2 && core.Data[int32](t)[0] <= 0 {
			return nil, invalid("%s must be %s", name, []string{"positive", "> 0"}[i])
		}
	}
	v := &combination{
		perClass: int(core.Data[int32](c.Input(2))[0]), total: int(core.Data[int32](c.Input(3))[0]),
		threshold: core.Data[float32](c.Input(4))[0], least: core.Data[float32](c.Input(5))[0],
		boxes: core.Data[float32](c.Input(0)), scores: core.Data[float32](c.Input(1)),
	}
	switch {
	case !(v.threshold >= 0 && v.threshold <= 1):
		return nil, invalid("iou_threshold must be in [0, 1]")
	case len(b) != 4:
		return nil, invalid("boxes must be 4-D%s", b.String())
	case len(s) != 3:
		return nil, invalid("scores must be 3-D%s", s.String())
	case b[2] != 1 && b[2] != s[2]:
		return nil, invalid("third dimension of boxes must be either 1 or num classes")
	case b[3] != 4:
		return nil, invalid("boxes must have 4 columns")
	case s[1] != b[1]:
		return nil, invalid("scores has incompatible shape")
	}
	v.n, v.q, v.classes = b[1], b[2], s[2]
	return v, nil
}

// boxesFor returns the boxes of one image for a class.
func (v *combination) boxesFor(batch, class int) []float32 {
	if v.q == 1 {
		return v.boxes[4*batch*v.n : 4*(batch+1)*v.n]
	}
	boxes := core.Make[float32](4 * v.n)[:0]
	for i := range v.n {
		at := ((batch*v.n+i)*v.q + class) * 4
		boxes = append(boxes, v.boxes[at:at+4]...)
	}
	return boxes
}

// ofClass selects boxes of a class of one image.
func (v *combination) ofClass(batch, class int, boxes []float32, as []corners) (out []detection) {
	scores := core.Make[float32](v.n)
	for i := range scores {
		scores[i] = v.scores[(batch*v.n+i)*v.classes+class]
	}
	s := selection{
		scores: scores, limit: min(v.perClass, v.n), threshold: v.threshold, least: v.least, round: exactly,
	}
	s.compareBoxes(as)
	selected, kept := s.run()
	for k, i := range selected {
		out = append(out, detection{kept[k], class, boxes[4*i : 4*i+4]})
	}
	return out
}

// ofImage returns the best boxes of all classes of one image. Boxes of negative
// scores come after places that no box has taken, which count as scores of −1.
func (v *combination) ofImage(batch, limit int) (out []detection, valid int) {
	empty := v.classes * min(v.perClass, v.n)
	var boxes []float32
	var as []corners
	for class := range v.classes {
		if class == 0 || v.q > 1 {
			boxes = v.boxesFor(batch, class)
			as = boxesOf(boxes)
		}
		out = append(out, v.ofClass(batch, class, boxes, as)...)
	}
	valid = min(len(out), limit)
	empty -= len(out)
	slices.SortStableFunc(out, func(a, b detection) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	at, _ := slices.BinarySearchFunc(out, float32(-1), func(d detection, v float32) int {
		if d.score >= v {
			return -1
		}
		return 1
	})
	nothing := detection{score: -1, class: -1, box: make([]float32, 4)}
	if at < valid {
		out = slices.Insert(out, at, slices.Repeat([]detection{nothing}, min(empty, valid-at))...)
	}
	return out[:valid], valid
}

func combined(c *core.OpContext) error {
	v, err := newCombination(c)
	if err != nil {
		return err
	}
	limit, width := v.total, v.total
	if c.Node.Bool("pad_per_class") {
		limit = min(v.total, v.perClass*v.classes, math.MaxInt32)
		width = limit
	}
	batch := c.Input(0).Dim(0)
	var out [4]*core.Tensor
	for i, s := range []tf.Shape{{batch, width, 4}, {batch, width}, {batch, width}, {batch}} {
		d := tf.Float32
		if i == 3 {
			d = tf.Int32
		}
		if out[i], err = c.Alloc(i, d, s); err != nil {
			return err
		}
	}
	clip := c.Node.Bool("clip_boxes")
	for _, t := range out[:3] {
		clear(core.Data[float32](t))
	}
	c.ParallelFor(batch, max(1, grain/max(1, v.n*v.classes*16)), func(lo, hi int) {
		for b := lo; b < hi; b++ {
			found, valid := v.ofImage(b, limit)
			core.Data[int32](out[3])[b] = int32(valid)
			for k, d := range found {
				at := b*width + k
				core.Data[float32](out[1])[at], core.Data[float32](out[2])[at] = d.score, float32(d.class)
				putBox(core.Data[float32](out[0])[4*at:][:4], d.box, clip)
			}
		}
	})
	return nil
}

// putBox copies a box, cut off at the edges of the image.
func putBox(dst, box []float32, clip bool) {
	for i, v := range box {
		if clip {
			v = max(min(v, 1), 0)
		}
		dst[i] = v
	}
}
