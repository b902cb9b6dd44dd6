package dataset

import (
	"github.com/gorge-tf/gorge/tf/core"
)

// stateType names the states of iterators among variants.
const stateType = "gorge.IteratorState"

func init() { core.RegisterVariant(stateType, decodeState) }

// EncodeVariant lets a state leave its process: as names, each with its tensor.
func (s *State) EncodeVariant() (core.VariantData, error) {
	data := core.VariantData{TypeName: stateType}
	for _, key := range s.Keys() {
		data.Tensors = append(data.Tensors, core.Scalar(key), s.all.by[key])
	}
	return data, nil
}

var errState = core.Errorf(core.InvalidArgument, "the state of an iterator must be what was saved of one")

func decodeState(data core.VariantData) (any, error) {
	s := NewState()
	parts := data.Tensors
	for ; len(parts) > 1; parts = parts[2:] {
		if parts[0].DType() != core.String || parts[0].Len() != 1 {
			return nil, errState
		}
		s.Put(core.Data[string](parts[0])[0], parts[1])
	}
	if len(parts) > 0 {
		return nil, errState
	}
	return s, nil
}

// Tensor returns the state as a variant.
func (s *State) Tensor() *core.Tensor {
	t := core.NewTensor(core.Variant, core.Shape{1})
	t.Variants()[0].Value = s
	return t
}

// StateOf undoes that.
func StateOf(t *core.Tensor) (*State, error) {
	if t.DType() != core.Variant || t.Len() != 1 {
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

func init() { core.RegisterVariant(listType, decodeList) }

// list is the elements of a list.
type list struct {
	indexed
	elements []Element
}

// EncodeVariant lets the list leave its process.
func (d *list) EncodeVariant() (core.VariantData, error) {
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

func (s *State) putShape(shape core.Shape) {
	s.PutBool("ranked", shape != nil)
	dims := core.NewTensor(core.Int64, core.Shape{len(shape)})
	for i, n := range shape {
		core.Data[int64](dims)[i] = int64(n)
	}
	s.Put("shape", dims)
}

func (s *State) shape() core.Shape {
	dims, err := s.Get("shape").Ints()
	if err != nil {
		s.Fail(err)
	}
	if !s.Bool("ranked") {
		return nil
	}
	return append(core.Shape{}, dims...)
}

func decodeList(data core.VariantData) (any, error) {
	v, err := decodeState(data)
	if err != nil {
		return nil, err
	}
	s, spec := v.(*State), &Spec{}
	for i := range s.Count("components", int64(len(s.all.by))) {
		part := s.Nth("component", int(i))
		spec.Types = append(spec.Types, core.DType(part.Int("type")))
		spec.Shapes = append(spec.Shapes, part.shape())
	}
	elements := s.Elements("elements")
	return List(spec, elements), s.Err()
}
