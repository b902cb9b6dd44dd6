package ops

import (
	varint "encoding/binary"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const key, both = "key_dtype: type", "key_dtype: type; value_dtype: type"
	handle, scalar := "input_handle: variant", core.ScalarShape
	for _, o := range []struct {
		name, in, out, attrs string
		shape                func(*core.Infer) error
		grad                 tf.GradFunc
		compute              core.Compute
	}{
		{"EmptyTensorMap", "", "handle: variant", "", scalar, nil, emptyMap},
		{"TensorMapSize", handle, "size: int32", "", scalar, nil, mapSize},
		{"TensorMapLookup", handle + "; key: key_dtype", "value: value_dtype", both, anyListShape, mapLookupGrad, mapLookup},
		{"TensorMapInsert", handle + "; key: key_dtype; value: value_dtype", "output_handle: variant", both, scalar, mapInsertGrad, mapInsert},
		{"TensorMapErase", handle + "; key: key_dtype", "output_handle: variant", both, scalar, mapEraseGrad, mapErase},
		{"TensorMapHasKey", handle + "; key: key_dtype", "has_key: bool", key, scalar, nil, mapHasKey},
		{"TensorMapStackKeys", handle, "keys: key_dtype", key, anyListShape, nil, mapStackKeys},
	} {
		d := core.OpDef{Name: o.name, In: o.in, Out: o.out, Attrs: o.attrs, Shape: o.shape, Grad: tf.GradFunc(o.grad), Kernels: core.AnyType(stateless(o.compute))}
		switch {
		case o.name == "EmptyTensorMap":
			d.NoGrad = core.NotDifferentiable
		case o.grad == nil:
			d.NoGrad = core.NoGradientDefined
		}
		core.Register(d)
	}
	core.RegisterVariant(mapTypeName, decodeMap)
}

const mapTypeName = "tensorflow::TensorMap"

// A tensorMap is the value of a map from tensors to tensors, as a Variant holds
// it. It does not change: ops make other maps.
type tensorMap struct {
	at    map[string]mapEntry // by the text of the key
	order []string            // of insertion
}

type mapEntry struct{ key, value *core.Tensor }

// keyText tells tensors apart: by type, shape and elements.
func keyText(t *core.Tensor) string {
	b := varint.AppendUvarint(nil, uint64(t.DType()))
	b = varint.AppendUvarint(b, uint64(t.Rank()))
	for _, d := range t.Shape() {
		b = varint.AppendUvarint(b, uint64(d))
	}
	if t.DType() != tf.String {
		return string(append(b, t.Buffer().Bytes()...))
	}
	for _, s := range core.Data[string](t) {
		b = append(varint.AppendUvarint(b, uint64(len(s))), s...)
	}
	return string(b)
}

// with returns m with one more entry, in the place of one of equal key.
func (m *tensorMap) with(key, value *core.Tensor) *tensorMap {
	text, p := keyText(key), &tensorMap{at: maps.Clone(m.at), order: m.order}
	if _, ok := m.at[text]; !ok {
		p.order = append(slices.Clip(m.order), text)
	}
	p.at[text] = mapEntry{key, value}
	return p
}

// without returns m without the entry of a key.
func (m *tensorMap) without(text string) *tensorMap {
	p := &tensorMap{at: maps.Clone(m.at), order: slices.Clone(m.order)}
	delete(p.at, text)
	p.order = slices.DeleteFunc(p.order, func(s string) bool { return s == text })
	return p
}

// plus returns a map with the keys of both, and the sums of the values of those
// that both have.
func (m *tensorMap) plus(o *tensorMap) (*tensorMap, error) {
	sum := m
	for _, text := range o.order {
		e := o.at[text]
		if mine, ok := m.at[text]; ok {
			v, err := sumOf(e.value, mine.value)
			if err != nil {
				return nil, err
			}
			e.value = v
		}
		sum = sum.with(e.key, e.value)
	}
	return sum, nil
}

func newMap() *tensorMap { return &tensorMap{at: map[string]mapEntry{}} }

// mapInput returns the map that input 0 holds.
func mapInput(c *core.OpContext) (*tensorMap, error) {
	t := c.Input(0)
	if t.Rank() != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Input map must be a scalar. Saw: %s", t.Shape().String())
	}
	if m, ok := t.Variants()[0].Value.(*tensorMap); ok {
		return m, nil
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Input handle is not a map. Saw: '%T'", t.Variants()[0].Value)
}

// mapKeyInput is mapInput together with input 1, a key.
func mapKeyInput(c *core.OpContext) (m *tensorMap, text string, err error) {
	if k := c.Input(1); k.DType() == tf.Resource || k.DType() == tf.Variant {
		return nil, "", badKey(k)
	}
	m, err = mapInput(c)
	return m, keyText(c.Input(1)), err
}

func emptyMap(c *core.OpContext) error {
	c.Set(0, variantOf(newMap()))
	return nil
}

func mapSize(c *core.OpContext) error {
	m, err := mapInput(c)
	if err == nil {
		c.Set(0, core.Scalar(int32(len(m.at))))
	}
	return err
}

func mapLookup(c *core.OpContext) error {
	m, text, err := mapKeyInput(c)
	if err != nil {
		return err
	}
	e, ok := m.at[text]
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Trying to lookup non-existent key. Could not find key \"%s\".", summarize(c.Input(1), 100))
	}
	if d := c.Node.Type("value_dtype").Base(); e.value.DType() != d {
		return tf.Errorf(tf.InvalidArgument, "the value of a key must be of the type asked for: %s is not %s", e.value.DType().CName(), d.CName())
	}
	c.Set(0, e.value.Share())
	return nil
}

func mapInsert(c *core.OpContext) error {
	m, _, err := mapKeyInput(c)
	if err == nil {
		c.Set(0, variantOf(m.with(keep(c.Input(1)), keep(c.Input(2)))))
	}
	return err
}

func mapErase(c *core.OpContext) error {
	m, text, err := mapKeyInput(c)
	if err != nil {
		return err
	}
	if _, ok := m.at[text]; !ok {
		return tf.Errorf(tf.InvalidArgument, "Trying to erase non-existent item. Could not find key \"%s\".", summarize(c.Input(1), 100))
	}
	c.Set(0, variantOf(m.without(text)))
	return nil
}

func mapHasKey(c *core.OpContext) error {
	m, text, err := mapKeyInput(c)
	if err == nil {
		_, ok := m.at[text]
		c.Set(0, core.Scalar(ok))
	}
	return err
}

func mapStackKeys(c *core.OpContext) error {
	m, err := mapInput(c)
	if err != nil {
		return err
	}
	if len(m.order) == 0 {
		return tf.Errorf(tf.InvalidArgument, "TensorMapStackKeys cannot be called on empty map.")
	}
	d, s := c.Node.Type("key_dtype").Base(), m.at[m.order[0]].key.Shape()
	out, err := c.Alloc(0, d, append(tf.Shape{len(m.order)}, s...))
	if err != nil {
		return err
	}
	for i, text := range m.order {
		switch key := m.at[text].key; {
		case key.DType() != d:
			return tf.Errorf(tf.InvalidArgument, "Key does not match requested dtype.")
		case !key.Shape().Equal(s):
			return tf.Errorf(tf.InvalidArgument, "Keys must all have the same shape.")
		default:
			copyElements(out, i*key.Len(), key, 0, key.Len())
		}
	}
	return nil
}

// EncodeVariant writes m: keys and values in turn.
func (m *tensorMap) EncodeVariant() (core.VariantData, error) {
	d := core.VariantData{TypeName: mapTypeName}
	for _, text := range m.order {
		e := m.at[text]
		d.Tensors = append(d.Tensors, e.key, e.value)
	}
	return d, nil
}

// decodeMap reads what EncodeVariant or TensorFlow wrote.
func decodeMap(d core.VariantData) (any, error) {
	if len(d.Tensors)%2 != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a map must have as many values as keys: %d tensors", len(d.Tensors))
	}
	m := newMap()
	for i := 0; i < len(d.Tensors); i += 2 {
		key := d.Tensors[i]
		if key.DType() == tf.Resource || key.DType() == tf.Variant {
			return nil, badKey(key)
		}
		text := keyText(key)
		if _, ok := m.at[text]; !ok {
			m.order = append(m.order, text)
		}
		m.at[text] = mapEntry{key, d.Tensors[i+1]}
	}
	return m, nil
}

func badKey(t *core.Tensor) error {
	return tf.Errorf(tf.InvalidArgument, "keys of maps must be of a type that can be compared, got %s", t.DType().CName())
}
