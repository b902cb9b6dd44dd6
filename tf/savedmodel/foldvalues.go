package savedmodel

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// fold replaces a norm by weights that are scaled and a vector that is added. Norms
// of other shapes, and those whose factors are not finite, stay.
func (f *normFolder) fold(n *norm) {
	if !f.factors(n) || !f.weigh(n) {
		n.linear = nil
		return
	}
	control := n.node.Input[len(dataInputs(n.node)):]
	in := []string{n.linear.GetName()}
	op, attrs := "Identity", map[string]*pb.AttrValue{"T": typeAttr(pb.DataType_DT_FLOAT)}
	if n.shift != nil {
		in = append(in, f.add(n.node.GetName()+"/folded_offset", n.shift))
		op, attrs["data_format"] = "BiasAdd", &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(n.format)}}
	}
	n.node.Op, n.node.Attr, n.node.Input = op, attrs, append(in, control...)
}

// factors computes what each channel is multiplied by, and what is added to it.
func (f *normFolder) factors(n *norm) bool {
	scale := f.vector(n.scale)
	c := len(scale)
	zero, one := make([]float32, c), slices.Repeat([]float32{1}, c)
	before, offset, mean, variance := zero, zero, zero, one
	if n.before != "" {
		before = f.vector(n.before)
	}
	if !n.product() {
		offset, mean, variance = f.vector(n.offset), f.vector(n.mean), f.vector(n.variance)
	}
	for _, v := range [][]float32{before, offset, mean, variance} {
		if len(v) != c || c == 0 {
			return false
		}
	}
	for i := range c {
		k := float64(scale[i]) / math.Sqrt(float64(variance[i])+n.epsilon)
		b := float64(offset[i]) + (float64(before[i])-float64(mean[i]))*k
		if math.IsNaN(k*b) || math.IsInf(k, 0) || math.IsInf(b, 0) {
			return false
		}
		n.factor, n.shift = append(n.factor, float32(k)), append(n.shift, float32(b))
	}
	if n.product() && n.bias == nil {
		n.shift = nil
	}
	return true
}

// vector returns the elements of a constant that has only channels, nil if it has
// more.
func (f *normFolder) vector(name string) []float32 {
	t := f.values[name]
	if t == nil || t.DType() != tf.Float32 || len(t.Shape()) == 0 || t.Shape()[len(t.Shape())-1] != t.Shape().NumElements() {
		return nil
	}
	return tf.Data[float32](t)
}

// weigh multiplies the weights by the factors, in the constant that has them: nothing
// else uses it. Channels are the last dimension, or the last two of a depthwise
// convolution.
func (f *normFolder) weigh(n *norm) bool {
	value := n.weights.GetAttr()["value"].GetTensor()
	shape, err := core.ShapeFromProto(value.GetTensorShape())
	if err != nil || len(shape) < 2 || len(f.values[n.scale].Shape()) > outputRank(n.linear) {
		return false
	}
	channels := shape[len(shape)-1]
	if n.linear.GetOp() == "DepthwiseConv2dNative" {
		channels *= shape[len(shape)-2]
	}
	t, err := core.TensorFromProto(value)
	if err != nil || t.DType() != core.Float32 || channels != len(n.factor) {
		return false
	}
	weighed := slices.Clone(core.Data[float32](t))
	for i := range weighed {
		weighed[i] *= n.factor[i%channels]
	}
	n.weights.Attr["value"] = tensorAttr(weighed, shape)
	return true
}

// outputRank is the rank of what a linear operation computes. A factor of a higher
// one would change it.
func outputRank(d *pb.NodeDef) int {
	if d.GetOp() == "MatMul" {
		return 2
	}
	return 4
}

// add adds a constant vector and returns its name.
func (f *normFolder) add(name string, v []float32) string {
	for f.nodes[name] != nil {
		name += "_1"
	}
	d := &pb.NodeDef{Name: name, Op: "Const", Attr: map[string]*pb.AttrValue{"dtype": typeAttr(pb.DataType_DT_FLOAT), "value": tensorAttr(v, tf.Shape{len(v)})}}
	f.def.Node, f.nodes[name] = append(f.def.Node, d), d
	return name
}

func tensorAttr(v []float32, shape tf.Shape) *pb.AttrValue {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: &pb.TensorProto{
		Dtype: pb.DataType_DT_FLOAT, TensorShape: core.ShapeProto(shape), TensorContent: b,
	}}}
}
