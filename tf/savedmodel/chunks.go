package savedmodel

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/tf"
)

// The messages of TensorFlow's chunk.proto, which is not among those that its
// releases export: ChunkMetadata says where chunks are (chunks) and what they make
// (message). Only what merging needs is read.
type (
	chunkMetadata struct {
		offsets []uint64 // positions of records
		message chunkedMessage
	}
	chunkedMessage struct {
		index  uint64
		has    bool
		fields []chunkedField
	}
	chunkedField struct {
		tag     []fieldIndex
		message chunkedMessage
	}
	// fieldIndex is the number of a field, the index of an element, or the key of an
	// entry.
	fieldIndex struct {
		kind   protowire.Number // 1: field, 2: key, 3: index
		number protowire.Number
		index  uint64
		key    any
	}
)

// The kinds of a fieldIndex.
const (
	fieldKind = 1
	keyKind   = 2
	indexKind = 3
)

// maxChunkDepth bounds messages within messages.
const maxChunkDepth = 100

// value is the value of a field: u, or b if it is a string or a message.
type value struct {
	u uint64
	b []byte
}

// eachField calls f for the fields of a message; others than numbers and bytes are
// passed over.
func eachField(b []byte, f func(protowire.Number, value) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v value
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return protowire.ParseError(n)
		}
		switch typ {
		case protowire.VarintType:
			v.u, _ = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			v.b, _ = protowire.ConsumeBytes(b)
		default:
			b = b[n:]
			continue
		}
		if err := f(num, v); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// parseChunks parses a ChunkMetadata.
func parseChunks(b []byte) (*chunkMetadata, error) {
	m := &chunkMetadata{}
	err := eachField(b, func(n protowire.Number, v value) error {
		switch n {
		case 2:
			var offset uint64
			err := eachField(v.b, func(n protowire.Number, v value) error {
				if n == 3 {
					offset = v.u
				}
				return nil
			})
			m.offsets = append(m.offsets, offset)
			return err
		case 3:
			return m.message.parse(v.b, 0)
		}
		return nil
	})
	return m, err
}

func (m *chunkedMessage) parse(b []byte, depth int) error {
	if depth > maxChunkDepth {
		return tf.Errorf(tf.DataLoss, "chunked messages must not be more than %d deep", maxChunkDepth)
	}
	return eachField(b, func(n protowire.Number, v value) error {
		switch n {
		case 1:
			m.index, m.has = v.u, true
		case 2:
			m.fields = append(m.fields, chunkedField{})
			return m.fields[len(m.fields)-1].parse(v.b, depth)
		}
		return nil
	})
}

func (f *chunkedField) parse(b []byte, depth int) error {
	return eachField(b, func(n protowire.Number, v value) error {
		switch n {
		case 1:
			i, err := parseIndex(v.b)
			f.tag = append(f.tag, i)
			return err
		case 3:
			return f.message.parse(v.b, depth+1)
		}
		return nil
	})
}

func parseIndex(b []byte) (i fieldIndex, err error) {
	err = eachField(b, func(n protowire.Number, v value) error {
		i.kind = n
		switch n {
		case fieldKind:
			i.number = protowire.Number(v.u & (1<<31 - 1))
		case keyKind:
			return eachField(v.b, i.parseKey)
		case indexKind:
			i.index = v.u
		}
		return nil
	})
	return i, err
}

func (i *fieldIndex) parseKey(n protowire.Number, v value) error {
	switch n {
	case 1:
		i.key = string(v.b)
	case 2:
		i.key = v.u != 0
	case 3:
		i.key = uint32(v.u)
	case 4:
		i.key = v.u
	case 5:
		i.key = int32(v.u)
	case 6:
		i.key = int64(v.u)
	}
	return nil
}

// step leads from a message to the value of a field, to an element or to an entry.
type step struct {
	number  protoreflect.FieldNumber
	index   uint64
	indexed bool
	key     any
}

// stepsOf joins the numbers of fields with the indices and keys behind them.
func stepsOf(tag []fieldIndex) (out []step, err error) {
	for _, i := range tag {
		switch {
		case i.kind == fieldKind:
			out = append(out, step{number: i.number})
		case len(out) == 0:
			return nil, tf.Errorf(tf.DataLoss, "an index or a key must follow the number of a field")
		case i.kind == indexKind:
			out[len(out)-1].index, out[len(out)-1].indexed = i.index, true
		default:
			out[len(out)-1].key = i.key
		}
	}
	return out, nil
}

// mapKey returns the key of an entry, which must have the type that the map says.
func (s step) mapKey(fd protoreflect.FieldDescriptor) (key protoreflect.MapKey, err error) {
	ok := false
	switch s.key.(type) {
	case string:
		ok = fd.Kind() == protoreflect.StringKind
	case bool:
		ok = fd.Kind() == protoreflect.BoolKind
	case uint32:
		ok = fd.Kind() == protoreflect.Uint32Kind
	case uint64:
		ok = fd.Kind() == protoreflect.Uint64Kind
	case int32:
		ok = fd.Kind() == protoreflect.Int32Kind
	case int64:
		ok = fd.Kind() == protoreflect.Int64Kind
	}
	if !ok {
		return key, tf.Errorf(tf.DataLoss, "the keys of %s must be of kind %v, got %v", fd.FullName(), fd.Kind(), s.key)
	}
	return protoreflect.ValueOf(s.key).MapKey(), nil
}
