package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// convRanges are the inputs of a fused convolution that are ranges, and what
// they are for.
type convRanges struct {
	image          span
	filterLo       []float32
	filterHi       []float32
	perOutput      bool
	result, summed span
}

// convInputs are the numbers of the inputs of a fused convolution, -1 for those
// that it does not have. Inputs of ranges are followed by the upper bounds.
type convInputs struct{ bias, summand, image, filter, result, summed int }

// at returns the inputs of one of convFusions.
func (f *convFusion) at() convInputs {
	in := convInputs{bias: -1, summand: -1, image: f.first(), filter: f.first() + 2, result: -1, summed: -1}
	next := f.first() + 4
	if f.bias {
		in.bias = 2
	}
	if f.to8 {
		in.result = next
		next += 2
	}
	if f.sum {
		in.summand = next
	}
	if f.summand != tf.Invalid {
		in.summed = next + 1
	}
	return in
}

// ranges reads and checks the ranges, for so many outputs.
func (in convInputs) ranges(c *core.OpContext, outputs int) (r convRanges, err error) {
	for _, scalar := range []struct {
		at   int
		name string
		to   *span
	}{{in.image, "input", &r.image}, {in.result, "freezed_output", &r.result}, {in.summed, "freezed_summand", &r.summed}} {
		if scalar.at < 0 {
			continue
		}
		if err := inRank0(scalar.at, "min_"+scalar.name, "max_"+scalar.name).check(c); err != nil {
			return r, err
		}
		*scalar.to = spanAt(c, scalar.at)
	}
	lo, hi := c.Input(in.filter), c.Input(in.filter+1)
	switch n := lo.Len(); {
	case n == 0 || !lo.Shape().Equal(hi.Shape()):
		return r, invalid("`min_ and max_filter` must have sameshape and contain at least one element.")
	case n != 1 && n != outputs: // TensorFlow takes more
		return r, invalid("min_filter and max_filter must have an element for each of %d outputs, or one, got %d", outputs, n)
	}
	r.filterLo, r.filterHi, r.perOutput = core.Data[float32](lo), core.Data[float32](hi), lo.Rank() > 0
	return r, nil
}

// imageSteps returns the greatest number of images, and how far their numbers
// are apart.
func imageSteps[Q gemm.Byte](r span) (most, step float32) {
	most = highest[Q]()
	return most, r.farther() / most
}

// wholeStep returns the step of sums of 32 bits: that of the widest filter's range.
func (r *convRanges) wholeStep(image float32) float32 {
	widest := span{r.filterLo[0], r.filterHi[0]}
	for i := range r.filterLo {
		widest.lo, widest.hi = min(widest.lo, r.filterLo[i]), max(widest.hi, r.filterHi[i])
	}
	return float32(float64(widest.farther())/127) * image
}

// finish returns what becomes of the sums, but for biases and summands.
func (r *convRanges) finish(d tf.DType, imageStep float32) *finish {
	var result float32
	switch d {
	case tf.QInt8:
		result = r.result.farther() / 127
	case tf.QUint8:
		result = r.result.farther() / 255
	default:
		result = r.wholeStep(imageStep)
	}
	return newFinish(imageStep, filterSteps(r.filterLo, r.filterHi), result)
}

// sumsPerUnit returns how many steps of the sums there are to 1, for each range
// of the filter.
func (r *convRanges) sumsPerUnit(most float32) []float32 {
	out := reach(r.filterLo, r.filterHi)
	for i, v := range out {
		out[i] = most * 127 / (r.image.farther() * v)
	}
	return out
}

// addends sets biases and summands, inputs of c.
func (f *finish) addends(c *core.OpContext, in convInputs, r *convRanges, most float32, v *conv.Conv) error {
	if in.bias >= 0 {
		t := c.Input(in.bias)
		if t.Rank() != 1 || t.Len() != v.OutC {
			return invalid("bias must have an element for each of %d outputs, got shape %s", v.OutC, t.Shape().String())
		}
		f.bias = biases(t, r.sumsPerUnit(most))
	}
	if in.summand < 0 {
		return nil
	}
	t, want := c.Input(in.summand), tf.Shape{v.Batch, v.Out[1], v.Out[2], v.OutC}
	if !t.Shape().Equal(want) {
		return invalid("summand must have the shape of the result, %s, got %s", want.String(), t.Shape().String())
	}
	f.add = summands(t, r.summed.farther())
	return nil
}

// summands returns what the elements of t stand for: themselves, or numbers of 8
// bits up to most.
func summands(t *core.Tensor, most float32) func(i int) float32 {
	switch t.DType() {
	case tf.QUint8:
		x, step := core.Data[uint8](t), most/255
		return func(i int) float32 { return float32(x[i]) * step }
	case tf.QInt8:
		x, step := core.Data[int8](t), most/127
		return func(i int) float32 { return float32(x[i]) * step }
	case tf.QInt32:
		x := core.Data[int32](t)
		return func(i int) float32 { return float32(x[i]) }
	}
	x := core.Data[float32](t)
	return func(i int) float32 { return x[i] }
}

// fusedConvOf returns the kernel for images of type d.
func fusedConvOf(d tf.DType, f *convFusion) core.NewKernel {
	kernelOf := fusedConv[uint8]
	if d == tf.QInt8 {
		kernelOf = fusedConv[int8]
	}
	return func(n *core.Node) (core.Kernel, error) {
		w, err := slideOf(n, "padding_list")
		if err != nil {
			return nil, err
		}
		return kernelOf(w, fusedConvOpts{f.at(), f.depthwise, f.relu}), nil
	}
}

// fusedConvOpts are what is done to a convolution.
type fusedConvOpts struct {
	in              convInputs
	depthwise, relu bool
}

func fusedConv[Q gemm.Byte](w *slide, o fusedConvOpts) core.Kernel {
	return core.Compute(func(c *core.OpContext) error {
		x, filter := c.Input(0), c.Input(1)
		v, err := w.conv(x.Shape(), filter.Shape(), o.depthwise)
		if err != nil {
			return err
		}
		r, err := o.in.ranges(c, v.OutC)
		if err != nil {
			return err
		}
		most, step := imageSteps[Q](r.image)
		f := r.finish(c.Node.OutTypes[0], step)
		f.relu = o.relu
		if err := f.addends(c, o.in, &r, most, v); err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Node.OutTypes[0], tf.Shape{v.Batch, v.Out[1], v.Out[2], v.OutC})
		if err != nil {
			return err
		}
		sums := core.Borrow[int32](c, out.Len())
		conv.Convolve8(c.ParallelFor, v, sums, gemm.Bytes[Q]{Data: core.Data[Q](x)}, gemm.Bytes[int8]{Data: core.Data[int8](filter)})
		f.into(c, out, sums, v.OutC)
		return setConvSpans[Q](c, o.in, &r)
	})
}

// setConvSpans makes outputs 1 and 2 the ranges of the result.
func setConvSpans[Q gemm.Byte](c *core.OpContext, in convInputs, r *convRanges) error {
	if in.result >= 0 {
		return setSpan(c, r.result)
	}
	s := tf.Shape{}
	if r.perOutput {
		s = tf.Shape{len(r.filterLo)}
	}
	lo, err := c.Alloc(1, tf.Float32, s)
	if err != nil {
		return err
	}
	hi, err := c.Alloc(2, tf.Float32, s)
	if err != nil {
		return err
	}
	for i := range r.filterLo {
		own := productSpan(symmetricLevel[Q](r.image), symmetricLevel[int8](span{r.filterLo[i], r.filterHi[i]}))
		core.Data[float32](lo)[i], core.Data[float32](hi)[i] = own.lo, own.hi
	}
	return nil
}
