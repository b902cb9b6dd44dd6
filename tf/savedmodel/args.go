package savedmodel

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// args returns the values of a call in the order of the tensors that they feed. Shapes are
// compared with those of the graph unless any will do.
func (s *Signature) args(in map[string]any, anyShape bool) ([]*tf.Tensor, error) {
	if err := s.checkKeys(in); err != nil {
		return nil, err
	}
	values := make(map[string]*tf.Tensor, len(s.inKeys))
	for _, k := range s.inKeys {
		v, ok := in[k]
		if !ok {
			values[k] = s.ins[k].Default
			continue
		}
		t, err := s.ins[k].value(v, anyShape)
		if err != nil {
			return nil, s.fault("input %q %s", k, tf.AsError(err).Message())
		}
		values[k] = t
	}
	args := make([]*tf.Tensor, len(s.fed))
	for i, k := range s.fed {
		args[i] = values[k]
	}
	if len(s.fed) < len(s.inKeys) {
		return args, s.checkTwins(values)
	}
	return args, nil
}

// checkTwins refuses different values for keys that stand for one tensor.
func (s *Signature) checkTwins(values map[string]*tf.Tensor) error {
	first := map[string]string{}
	for _, k := range s.inKeys {
		name := s.ins[k].out.Name()
		other, ok := first[name]
		if !ok {
			first[name] = k
			continue
		}
		if !same(values[k], values[other]) {
			return s.fault("inputs %q and %q must be equal: both are tensor %s", other, k, name)
		}
	}
	return nil
}

// same reports whether two tensors of one type have the same shape and elements.
func same(a, b *tf.Tensor) bool {
	if a == b {
		return true
	}
	if !a.Shape().Equal(b.Shape()) {
		return false
	}
	for i := range a.Len() {
		if x, y := a.At(i), b.At(i); x != y && (x == x || y == y) { // NaNs are equal here
			return false
		}
	}
	return true
}

// checkKeys compares the keys of a call with those of the signature.
func (s *Signature) checkKeys(in map[string]any) error {
	var extra, missing []string
	for k := range in {
		if s.ins[k] == nil {
			extra = append(extra, k)
		}
	}
	for _, k := range s.inKeys {
		if _, ok := in[k]; !ok && s.ins[k].Default == nil {
			missing = append(missing, k)
		}
	}
	if extra == nil && missing == nil {
		return nil
	}
	slices.Sort(extra)
	return s.fault("the inputs must be {%s}; missing: {%s}, unknown: {%s}", strings.Join(s.inKeys, ","), strings.Join(missing, ","), strings.Join(extra, ","))
}

// value returns v as a tensor that fits the input.
func (i *TensorSpec) value(v any, anyShape bool) (*tf.Tensor, error) {
	t, err := tensorOf(v)
	if err != nil {
		return nil, err
	}
	switch {
	case t.DType() != i.DType:
		return nil, tf.Errorf(tf.InvalidArgument, "must have type %v, got %v%v", i.DType, t.DType(), t.Shape())
	case !anyShape && !i.out.Shape().Compatible(t.Shape()): // not i.Shape, which is only a description
		return nil, tf.Errorf(tf.InvalidArgument, "must have shape %v, got %v", i.out.Shape(), t.Shape())
	}
	return t, nil
}

func tensorOf(v any) (*tf.Tensor, error) {
	if t, ok := v.(*tf.Tensor); ok && t == nil || v == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "must have a value, got nil")
	}
	if t, ok := v.(tf.Value); ok {
		return t.AsTensor()
	}
	return tf.TensorOf(v)
}

// partsOf returns the dense tensors of an input or output by key, as TensorFlow 2
// names them when it loads models of TensorFlow 1: a sparse tensor KEY has the
// parts KEY_indices, KEY_values and KEY_dense_shape, another composite one
// KEY_component_0 and so on.
func partsOf(key string, info *pb.TensorInfo) iter.Seq2[string, *pb.TensorInfo] {
	parts := map[string]*pb.TensorInfo{}
	switch e := info.GetEncoding().(type) {
	case *pb.TensorInfo_CooSparse_:
		c := e.CooSparse
		for part, name := range map[string]string{"values": c.GetValuesTensorName(), "indices": c.GetIndicesTensorName(), "dense_shape": c.GetDenseShapeTensorName()} {
			parts[key+"_"+part] = &pb.TensorInfo{Encoding: &pb.TensorInfo_Name{Name: name}}
		}
	case *pb.TensorInfo_CompositeTensor_:
		for i, c := range e.CompositeTensor.GetComponents() {
			maps.Insert(parts, partsOf(fmt.Sprintf("%s_component_%d", key, i), c))
		}
	default:
		parts[key] = info
	}
	return maps.All(parts)
}

// tensorNames returns the names of all dense tensors of an input or output.
func tensorNames(info *pb.TensorInfo) (out []string) {
	for _, i := range partsOf("", info) {
		out = append(out, i.GetName())
	}
	return out
}
