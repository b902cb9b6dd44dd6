package savedmodel

import (
	"bufio"
	"encoding/binary"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The numbers of the fields that lead to the nodes of graphs, which are read one
// by one: a file with large constants is never in memory as a whole beside the
// message that is made of it.
const (
	metaGraphsField = 2 // of SavedModel
	graphDefField   = 2 // of MetaGraphDef
	nodeField       = 1 // of GraphDef
)

// fields reads a message field by field.
type fields struct {
	r    *bufio.Reader
	left int64  // bytes of the message that have not been read
	rest []byte // the fields that no caller takes; they are parsed together
	buf  []byte // for the contents of fields, used again
}

// readBinary reads saved_model.pb.
func readBinary(_, name string) (*pb.SavedModel, error) {
	f, size, err := core.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &pb.SavedModel{}
	top := &fields{r: bufio.NewReaderSize(f, 1<<16), left: size}
	err = top.read(m, map[protowire.Number]func() error{metaGraphsField: func() error {
		mg, err := top.metaGraph()
		m.MetaGraphs = append(m.MetaGraphs, mg)
		return err
	}})
	if err != nil {
		return nil, tf.Errorf(tf.DataLoss, "Can't parse %s as binary proto: %v", name, err)
	}
	return m, nil
}

// metaGraph reads a MetaGraphDef.
func (f *fields) metaGraph() (*pb.MetaGraphDef, error) {
	in, err := f.message()
	if err != nil {
		return nil, err
	}
	m := &pb.MetaGraphDef{}
	return m, in.read(m, map[protowire.Number]func() error{graphDefField: func() error {
		if m.GraphDef == nil {
			m.GraphDef = &pb.GraphDef{}
		}
		return in.graph(m.GraphDef)
	}})
}

// graph reads a GraphDef, and adds it to what there is of it.
func (f *fields) graph(g *pb.GraphDef) error {
	in, err := f.message()
	if err != nil {
		return err
	}
	return in.read(g, map[protowire.Number]func() error{nodeField: func() error {
		b, err := in.bytes()
		if err != nil {
			return err
		}
		n := &pb.NodeDef{}
		g.Node = append(g.Node, n)
		return proto.Unmarshal(b, n)
	}})
}

// read reads all fields of a message into m, some of them by functions of their
// own.
func (f *fields) read(m proto.Message, take map[protowire.Number]func() error) error {
	for f.left > 0 {
		tag, err := f.varint()
		if err != nil {
			return err
		}
		num, typ := protowire.DecodeTag(tag)
		if !num.IsValid() {
			return tf.Errorf(tf.DataLoss, "a message must have valid field numbers")
		}
		if read := take[num]; read != nil && typ == protowire.BytesType {
			err = read()
		} else {
			f.rest = protowire.AppendVarint(f.rest, tag)
			err = f.keep(typ)
		}
		if err != nil {
			return err
		}
	}
	return proto.UnmarshalOptions{Merge: true}.Unmarshal(f.rest, m)
}

// keep adds the value of a field to those that are read as a whole.
func (f *fields) keep(typ protowire.Type) error {
	switch typ {
	case protowire.VarintType:
		v, err := f.varint()
		f.rest = protowire.AppendVarint(f.rest, v)
		return err
	case protowire.BytesType:
		b, err := f.bytes()
		f.rest = protowire.AppendBytes(f.rest, b)
		return err
	case protowire.Fixed32Type:
		return f.keepBytes(4)
	case protowire.Fixed64Type:
		return f.keepBytes(8)
	}
	return tf.Errorf(tf.DataLoss, "a message must not have fields of wire type %d", typ)
}

func (f *fields) keepBytes(n int64) error {
	b, err := f.next(n)
	f.rest = append(f.rest, b...)
	return err
}

// message begins to read the message that is the value of a field. Until it has
// been read, nothing else of f may be.
func (f *fields) message() (*fields, error) {
	n, err := f.length()
	if err != nil {
		return nil, err
	}
	f.left -= n
	return &fields{r: f.r, left: n}, nil
}

// bytes reads the value of a field, which is valid until the next call.
func (f *fields) bytes() ([]byte, error) {
	n, err := f.length()
	if err != nil {
		return nil, err
	}
	return f.next(n)
}

// length reads the size of a field's value, which is no larger than what is left.
func (f *fields) length() (int64, error) {
	n, err := f.varint()
	if err == nil && n > uint64(f.left) {
		err = io.ErrUnexpectedEOF
	}
	return int64(n), err
}

// next reads n bytes. Their number is checked against the size of the file before
// memory is asked for.
func (f *fields) next(n int64) ([]byte, error) {
	if n > f.left {
		return nil, io.ErrUnexpectedEOF
	}
	if int64(cap(f.buf)) < n {
		f.buf = make([]byte, n+min(n/16, f.left-n)) // nodes alike differ by a few bytes
	}
	f.left -= n
	_, err := io.ReadFull(f.r, f.buf[:n])
	return f.buf[:n], err
}

func (f *fields) varint() (uint64, error) {
	v, err := binary.ReadUvarint(f)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

// ReadByte reads a byte of the message.
func (f *fields) ReadByte() (byte, error) {
	if f.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	f.left--
	return f.r.ReadByte()
}
