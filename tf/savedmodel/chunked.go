package savedmodel

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/internal/wire/riegeli"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// readChunked reads saved_model.cpb: a SavedModel in pieces, as TensorFlow's option
// experimental_image_format writes models of which one message has more than 2 GiB.
// The last record says where in the SavedModel the others belong.
func readChunked(_, name string) (*pb.SavedModel, error) {
	f, size, err := core.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &pb.SavedModel{}
	if err := mergeFile(f, size, m); err != nil {
		code := tf.DataLoss
		switch {
		case errors.Is(err, riegeli.ErrTransposed):
			code = tf.Unimplemented
		case core.Exhausted(err):
			code = tf.ResourceExhausted
		}
		return nil, tf.Errorf(code, "Can't read %s as chunked proto: %v", name, err)
	}
	return m, nil
}

// mergeFile merges the chunks of a file into m.
func mergeFile(f *os.File, size int64, m proto.Message) error {
	r, err := riegeli.Open(f, size)
	if err != nil {
		return err
	}
	last, err := r.Last()
	if err != nil {
		return err
	}
	all, err := parseChunks(last)
	if err != nil {
		return err
	}
	return (&merger{r: r, offsets: all.offsets, used: map[uint64]bool{}}).message(&all.message, m.ProtoReflect())
}

// merger puts chunks together.
type merger struct {
	r       *riegeli.Reader
	offsets []uint64
	used    map[uint64]bool // chunks; each is part of one message
}

// chunk reads a chunk. None may be used twice: a small file could make a large message.
func (m *merger) chunk(index uint64) ([]byte, error) {
	if index >= uint64(len(m.offsets)) {
		return nil, tf.Errorf(tf.DataLoss, "chunks must have indices below %d, got %d", len(m.offsets), index)
	}
	if m.used[index] {
		return nil, tf.Errorf(tf.DataLoss, "a chunk must be used once, %d is used again", index)
	}
	m.used[index] = true
	return m.r.Record(m.offsets[index])
}

// message merges the chunk of c, if it has one, and then those of its fields into to.
func (m *merger) message(c *chunkedMessage, to protoreflect.Message) error {
	if c.has {
		b, err := m.chunk(c.index)
		if err != nil {
			return err
		}
		if err := (proto.UnmarshalOptions{Merge: true, AllowPartial: true}).Unmarshal(b, to.Interface()); err != nil {
			return tf.Errorf(tf.DataLoss, "chunk %d must be a %s: %v", c.index, to.Descriptor().Name(), err)
		}
	}
	slices.SortStableFunc(c.fields, compareFields)
	for i := range c.fields {
		if err := m.field(&c.fields[i], to); err != nil {
			return err
		}
	}
	return nil
}

// compareFields orders fields so that what holds others comes before them, and
// elements of a list come in their order.
func compareFields(a, b chunkedField) int {
	for i := range min(len(a.tag), len(b.tag)) {
		if c := cmp.Or(cmp.Compare(a.tag[i].number, b.tag[i].number), cmp.Compare(a.tag[i].index, b.tag[i].index)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(a.tag), len(b.tag)), cmp.Compare(a.message.index, b.message.index))
}

// field merges the chunks of a field, which may be one of a message within to.
func (m *merger) field(c *chunkedField, to protoreflect.Message) error {
	steps, err := stepsOf(c.tag)
	if err != nil {
		return err
	}
	for i, s := range steps {
		fd := to.Descriptor().Fields().ByNumber(s.number)
		if fd == nil {
			return tf.Errorf(tf.DataLoss, "Field with number %d not found in message descriptor %s", s.number, to.Descriptor().FullName())
		}
		next, err := s.enter(to, fd)
		if err != nil {
			return err
		}
		if next == nil {
			if i < len(steps)-1 {
				return tf.Errorf(tf.DataLoss, "field %s must be a message to have fields", fd.FullName())
			}
			return m.bytes(&c.message, to, fd, s)
		}
		to = next
	}
	return m.message(&c.message, to)
}

// enter returns the message that a step leads to, and makes it if it is not there. It
// returns nil if the step leads to another value.
func (s step) enter(to protoreflect.Message, fd protoreflect.FieldDescriptor) (protoreflect.Message, error) {
	switch {
	case fd.IsMap():
		key, err := s.mapKey(fd.MapKey())
		if err != nil || fd.MapValue().Message() == nil {
			return nil, err
		}
		return to.Mutable(fd).Map().Mutable(key).Message(), nil
	case fd.IsList():
		list := to.Mutable(fd).List()
		if !s.indexed || s.index > uint64(list.Len()) {
			return nil, tf.Errorf(tf.DataLoss, "elements of %s must come in their order, got index %d of %d", fd.FullName(), s.index, list.Len())
		}
		if fd.Message() == nil {
			return nil, nil
		}
		if s.index == uint64(list.Len()) {
			list.AppendMutable()
		}
		return list.Get(int(s.index)).Message(), nil
	case fd.Message() != nil:
		return to.Mutable(fd).Message(), nil
	}
	return nil, nil
}

// bytes sets a string or bytes to a chunk.
func (m *merger) bytes(c *chunkedMessage, to protoreflect.Message, fd protoreflect.FieldDescriptor, s step) error {
	kind := fd.Kind()
	if fd.IsMap() {
		kind = fd.MapValue().Kind()
	}
	if kind != protoreflect.BytesKind && kind != protoreflect.StringKind || len(c.fields) > 0 {
		return tf.Errorf(tf.DataLoss, "field %s must hold messages or bytes to be a chunk", fd.FullName())
	}
	b, err := m.chunk(c.index)
	if err != nil {
		return err
	}
	v := protoreflect.ValueOfString(string(b))
	if kind == protoreflect.BytesKind {
		v = protoreflect.ValueOfBytes(slices.Clone(b))
	}
	switch {
	case fd.IsMap():
		key, err := s.mapKey(fd.MapKey())
		if err != nil {
			return err
		}
		to.Mutable(fd).Map().Set(key, v)
	case fd.IsList() && s.index < uint64(to.Get(fd).List().Len()):
		to.Mutable(fd).List().Set(int(s.index), v)
	case fd.IsList():
		to.Mutable(fd).List().Append(v)
	default:
		to.Set(fd, v)
	}
	return nil
}
