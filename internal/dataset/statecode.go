package dataset

import (
	"github.com/gorge-tf/gorge/tf"
)

// stateType names the states of iterators among variants.
const stateType = "gorge.IteratorState"

func init() { tf.RegisterVariant(stateType, decodeState) }

// EncodeVariant lets a state leave its process: as names, each with its tensor.
func (s *State) EncodeVariant() (tf.VariantData, error) {
	data := tf.VariantData{TypeName: stateType}
	for _, key := range s.Keys() {
		data.Tensors = append(data.Tensors, tf.Scalar(key), s.all.by[key])
	}
	return data, nil
}

var errState = tf.Errorf(tf.InvalidArgument, "the state of an iterator must be what was saved of one")

func decodeState(data tf.VariantData) (any, error) {
	s := NewState()
	parts := data.Tensors
	for ; len(parts) > 1; parts = parts[2:] {
		if parts[0].DType() != tf.String || parts[0].Len() != 1 {
			return nil, errState
		}
		s.Put(tf.Data[string](parts[0])[0], parts[1])
	}
	if len(parts) > 0 {
		return nil, errState
	}
	return s, nil
}

// Tensor returns the state as a variant.
func (s *State) Tensor() *tf.Tensor {
	t := tf.NewTensor(tf.Variant, tf.Shape{1})
	t.Variants()[0].Value = s
	return t
}

// StateOf undoes that.
func StateOf(t *tf.Tensor) (*State, error) {
	if t.DType() != tf.Variant || t.Len() != 1 {
		return nil, errState
	}
	s, ok := t.Variants()[0].Value.(*State)
	if !ok {
		return nil, errState
	}
	return s, nil
}

// listType names datasets of elements that are all there, which iterators have
// in their states.
const listType = "gorge.ListDataset"

func init() { tf.RegisterVariant(listType, decodeList) }

// list is the elements of a list.
type list struct {
	indexed
	elements []Element
}

// EncodeVariant lets the list leave its process.
func (d *list) EncodeVariant() (tf.VariantData, error) {
	s := NewState()
	s.PutElements("elements", d.elements)
	for i, t := range d.spec.Types {
		s.Nth("component", i).PutInt("type", int64(t))
		s.Nth("component", i).putShape(d.spec.Shapes[i])
	}
	s.PutInt("components", int64(len(d.spec.Types)))
	data, err := s.EncodeVariant()
	data.TypeName = listType
	return data, err
}

func (s *State) putShape(shape tf.Shape) {
	s.PutBool("ranked", shape != nil)
	dims := tf.NewTensor(tf.Int64, tf.Shape{len(shape)})
	for i, n := range shape {
		tf.Data[int64](dims)[i] = int64(n)
	}
	s.Put("shape", dims)
}

func (s *State) shape() tf.Shape {
	dims, err := s.Get("shape").Ints()
	if err != nil {
		s.Fail(err)
	}
	if !s.Bool("ranked") {
		return nil
	}
	return append(tf.Shape{}, dims...)
}

func decodeList(data tf.VariantData) (any, error) {
	v, err := decodeState(data)
	if err != nil {
		return nil, err
	}
	s, spec := v.(*State), &Spec{}
	for i := range s.Count("components", int64(len(s.all.by))) {
		part := s.Nth("component", int(i))
		spec.Types = append(spec.Types, tf.DType(part.Int("type")))
		spec.Shapes = append(spec.Shapes, part.shape())
	}
	elements := s.Elements("elements")
	return List(spec, elements), s.Err()
}
