package uniform

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf"
)

// dimensionOrder says which dimensions of a tensor are what: first that of the batch or
// of a filter's outputs, then that of the features or of a filter's inputs, then
// the spatial ones.
type dimensionOrder []int

// plainLayout has them in that order.
func plainLayout(rank int) dimensionOrder {
	l := make(dimensionOrder, rank)
	for i := range l {
		l[i] = i
	}
	return l
}

// Dimensions say where batch, features and positions are in the tensors of a
// convolution. Its zero value stands for batch or output features first, then
// input features, then positions.
type Dimensions struct {
	InputBatch, InputFeature   int
	InputSpatial               []int
	KernelInput, KernelOutput  int
	KernelSpatial              []int
	OutputBatch, OutputFeature int
	OutputSpatial              []int
}

// numbers returns the fields by their numbers in TensorFlow's message, less 1.
func (d *Dimensions) numbers() [9]any {
	return [9]any{
		&d.InputBatch, &d.InputFeature, &d.InputSpatial,
		&d.KernelInput, &d.KernelOutput, &d.KernelSpatial,
		&d.OutputBatch, &d.OutputFeature, &d.OutputSpatial,
	}
}

// Marshal returns the value of attribute dimension_numbers.
func (d Dimensions) Marshal() string {
	var b []byte
	for i, f := range d.numbers() {
		n := protowire.Number(i + 1)
		switch f := f.(type) {
		case *int:
			b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(*f))
		case *[]int:
			for _, v := range *f {
				b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
			}
		}
	}
	return string(b)
}

var errDimensions = tf.Errorf(tf.InvalidArgument, "Error parsing convolution dimension numbers.")

// parseDimensions reads the value of attribute dimension_numbers.
func parseDimensions(s string) (*Dimensions, error) {
	d, b := &Dimensions{}, []byte(s)
	fields := d.numbers()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, errDimensions
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return nil, errDimensions
		}
		if num <= 9 {
			setNumbers(fields[num-1], typ, b[n:n+size])
		}
		b = b[n+size:]
	}
	return d, nil
}

// setNumbers puts a field's value into f: a number, or more of them in one.
func setNumbers(f any, typ protowire.Type, value []byte) {
	if typ == protowire.BytesType {
		value, _ = protowire.ConsumeBytes(value)
	} else if typ != protowire.VarintType {
		return
	}
	for len(value) > 0 {
		v, n := protowire.ConsumeVarint(value)
		if n < 0 {
			return
		}
		switch f := f.(type) {
		case *int:
			*f = int(v)
		case *[]int:
			*f = append(*f, int(v))
		}
		value = value[n:]
	}
}

// layouts returns those of images, filters and results of this rank.
func (d *Dimensions) layouts(rank int) (images, filters, out dimensionOrder, err error) {
	if d == nil || len(d.InputSpatial) == 0 {
		l := plainLayout(rank)
		return l, l, l, nil
	}
	images, err = layoutOf(rank, d.InputBatch, d.InputFeature, d.InputSpatial)
	if err == nil {
		filters, err = layoutOf(rank, d.KernelOutput, d.KernelInput, d.KernelSpatial)
	}
	if err == nil {
		out, err = layoutOf(rank, d.OutputBatch, d.OutputFeature, d.OutputSpatial)
	}
	return images, filters, out, err
}

func layoutOf(rank, first, second int, spatial []int) (dimensionOrder, error) {
	l := append(dimensionOrder{first, second}, spatial...)
	if err := checkDimensions(rank, l[:2]); err != nil {
		return nil, err
	}
	if len(spatial) != rank-2 {
		return nil, invalid("Spatial dimensions size must be rank - 2. Given rank %d and spatial dimensions size %d", rank, len(spatial))
	}
	if err := checkDimensions(rank, spatial); err != nil {
		return nil, err
	}
	seen := make([]bool, rank)
	for _, d := range l {
		if seen[d] { // which TensorFlow takes
			return nil, invalid("Each dimension number must be there once. Given %d more than once", d)
		}
		seen[d] = true
	}
	return l, nil
}

func checkDimensions(rank int, dims []int) error {
	for _, d := range dims {
		if d < 0 || d >= rank {
			return invalid("Each dimension number must be in region [0, rank). Given rank %d and dimension number value %d", rank, d)
		}
	}
	return nil
}

// of returns the sizes of a shape in the layout's order.
func (l dimensionOrder) of(s tf.Shape) tf.Shape {
	out := make(tf.Shape, len(l))
	for i, d := range l {
		out[i] = s[d]
	}
	return out
}

// back returns the shape whose sizes in the layout's order are s.
func (l dimensionOrder) back(s tf.Shape) tf.Shape {
	out := make(tf.Shape, len(l))
	for i, d := range l {
		out[d] = s[i]
	}
	return out
}

// inverse returns the permutation that undoes the layout.
func (l dimensionOrder) inverse() []int {
	out := make([]int, len(l))
	for i, d := range l {
		out[d] = i
	}
	return out
}
