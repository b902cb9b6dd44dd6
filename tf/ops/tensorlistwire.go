package ops

import (
	varint "encoding/binary"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Lists and optionals go from task to task in TensorFlow's form, so that a list
// that one task fills another one reads, whichever kind it is.

const (
	listTypeName     = "tensorflow::TensorList"
	optionalTypeName = "tensorflow::data::Optional"
)

func init() {
	core.RegisterVariant(listTypeName, decodeList)
	core.RegisterVariant(optionalTypeName, decodeOptional)
}

// EncodeVariant writes l: the elements that are set as tensors; which are not,
// the type, the limit and the shape of all as metadata.
func (l *tensorList) EncodeVariant() (core.VariantData, error) {
	d := core.VariantData{TypeName: listTypeName}
	var unset []uint64
	for i, t := range l.items {
		if t == nil {
			unset = append(unset, uint64(i))
			continue
		}
		d.Tensors = append(d.Tensors, t)
	}
	d.Metadata = varint.AppendUvarint(nil, uint64(len(unset)))
	for _, v := range append(unset, uint64(l.elem), uint64(l.limit)) {
		d.Metadata = varint.AppendUvarint(d.Metadata, v)
	}
	var err error
	d.Metadata, err = proto.MarshalOptions{}.MarshalAppend(d.Metadata, core.ShapeProto(l.shape))
	return d, err
}

// decodeList reads what EncodeVariant or TensorFlow wrote.
func decodeList(d core.VariantData) (any, error) {
	r := varints{rest: d.Metadata}
	unset := r.list(len(d.Metadata))
	elem, limit := tf.DType(r.next()), int(int64(r.next()))
	var p pb.TensorShapeProto
	if err := proto.Unmarshal(r.rest, &p); r.short || err != nil {
		return nil, badList("its metadata ends early or holds no shape")
	}
	shape, err := core.ShapeFromProto(&p)
	if err != nil {
		return nil, err
	}
	if !elem.Valid() || elem.IsRef() {
		return nil, badList("there is no type %d", elem)
	}
	items, err := spreadItems(d.Tensors, unset, elem)
	if err != nil {
		return nil, err
	}
	l := newList(elem, shape, items)
	l.limit = limit
	return l, nil
}

func badList(format string, args ...any) error {
	return tf.Errorf(tf.DataLoss, "a list of tensors must have TensorFlow's encoding: "+format, args...)
}

// spreadItems puts tensors into the places that are set.
func spreadItems(tensors []*core.Tensor, unset []uint64, elem tf.DType) ([]*core.Tensor, error) {
	items := make([]*core.Tensor, len(tensors)+len(unset))
	empty := make(map[uint64]bool, len(unset))
	for _, i := range unset {
		if i >= uint64(len(items)) || empty[i] {
			return nil, badList("element %d of %d cannot be unset", i, len(items))
		}
		empty[i] = true
	}
	for i := range items {
		if empty[uint64(i)] {
			continue
		}
		if tensors[0].DType() != elem {
			return nil, badList("its elements are %v, one is %v", elem, tensors[0].DType())
		}
		items[i], tensors = tensors[0], tensors[1:]
	}
	return items, nil
}

// varints reads numbers one after the other; short tells that there were too
// few.
type varints struct {
	rest  []byte
	short bool
}

func (r *varints) next() uint64 {
	v, n := varint.Uvarint(r.rest)
	if n <= 0 {
		r.short, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// list reads a count, which is at most most, and as many numbers.
func (r *varints) list(most int) []uint64 {
	n := r.next()
	if n > uint64(most) {
		r.short = true
		return nil
	}
	out := core.Make[uint64](int(n))
	for i := range out {
		out[i] = r.next()
	}
	return out
}

// EncodeVariant writes o: a byte that tells whether it holds something, and
// what it holds.
func (o *optional) EncodeVariant() (core.VariantData, error) {
	d := core.VariantData{TypeName: optionalTypeName, Metadata: []byte{0}, Tensors: o.items}
	if o.items != nil {
		d.Metadata[0] = 1
	}
	return d, nil
}

func decodeOptional(d core.VariantData) (any, error) {
	if len(d.Metadata) != 1 {
		return nil, tf.Errorf(tf.DataLoss, "an optional must say in one byte whether it holds something, got %d", len(d.Metadata))
	}
	if d.Metadata[0] == 0 {
		return &optional{}, nil
	}
	return &optional{items: append([]*core.Tensor{}, d.Tensors...)}, nil
}
