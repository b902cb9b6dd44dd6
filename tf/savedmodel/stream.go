package savedmodel

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The numbers of the fields that lead to the nodes of graphs and functions, which are
// read one by one, and to their large attributes: a file with large constants is never
// in memory as a whole beside the message that is made of it.
const (
	metaGraphsField   = 2 // of SavedModel
	graphDefField     = 2 // of MetaGraphDef
	nodeField         = 1 // of GraphDef
	libraryField      = 2 // of GraphDef
	functionField     = 1 // of FunctionDefLibrary
	functionNodeField = 3 // of FunctionDef
	attrField         = 5 // of NodeDef
	keyField          = 1 // of an entry of attributes
	valueField        = 2 // of an entry of attributes
	stringField       = 2 // of AttrValue
)

// largeField is the size from which on messages are read field by field.
const largeField = 1 << 20

// taking says how fields are read that are not parsed with the rest.
type taking map[protowire.Number]func() error

// fields reads a message field by field.
type fields struct {
	r    *bufio.Reader
	left int64  // bytes of the message that have not been read
	rest []byte // the fields that no caller takes; they are parsed together
	buf  []byte // for the contents of fields, used again
	// texts are the large strings that have been read. nil: equal ones do not share
	// memory, since a program may change them.
	texts *texts
	// repeats are the small values that nodes have alike. nil: each node has its own.
	repeats *repeats
}

// readBinary reads saved_model.pb.
func readBinary(_, name string) (*pb.SavedModel, error) { return readStream(name, nil, nil) }

// readSharing is readBinary for a message whose attributes do not change. Its large
// strings are in memory once, and are frozen: attributes are made of them without copies.
// Small values of attributes are in memory once, too.
func readSharing(_, name string) (*pb.SavedModel, error) {
	return readStream(name, &texts{}, newRepeats())
}

func readStream(name string, t *texts, r *repeats) (*pb.SavedModel, error) {
	f, size, err := core.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := bundle.NotPointer(f, size, name); err != nil {
		return nil, err
	}
	m := &pb.SavedModel{}
	top := &fields{r: bufio.NewReaderSize(f, 1<<16), left: size, texts: t, repeats: r}
	err = top.read(m, taking{metaGraphsField: func() error {
		mg, err := top.metaGraph()
		m.MetaGraphs = append(m.MetaGraphs, mg)
		return err
	}})
	switch {
	case core.Exhausted(err):
		return nil, tf.Errorf(tf.ResourceExhausted, "%s must fit into memory: %w", name, err)
	case err != nil:
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
	return m, in.read(m, taking{graphDefField: func() error {
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
	return in.read(g, taking{
		nodeField: func() error {
			n := &pb.NodeDef{}
			g.Node = append(g.Node, n)
			return in.node(n)
		},
		libraryField: func() error {
			if g.Library == nil {
				g.Library = &pb.FunctionDefLibrary{}
			}
			return in.library(g.Library)
		}})
}

// library reads functions, and adds them to what there are.
func (f *fields) library(l *pb.FunctionDefLibrary) error {
	return f.parts(l, func(in *fields) taking {
		return taking{functionField: func() error {
			d := &pb.FunctionDef{}
			l.Function = append(l.Function, d)
			return in.function(d)
		}}
	})
}

func (f *fields) function(d *pb.FunctionDef) error {
	return f.parts(d, func(in *fields) taking {
		return taking{functionNodeField: func() error {
			n := &pb.NodeDef{}
			d.NodeDef = append(d.NodeDef, n)
			return in.node(n)
		}}
	})
}

func (f *fields) node(n *pb.NodeDef) error {
	return f.parts(n, func(in *fields) taking {
		return taking{attrField: func() error {
			e := &pb.NodeDef{} // parses an entry that is not large
			if err := in.attr(e); err != nil {
				return err
			}
			if n.Attr == nil {
				n.Attr = map[string]*pb.AttrValue{}
			}
			maps.Copy(n.Attr, e.Attr)
			return nil
		}}
	})
}

// attr reads an entry of attributes. A large string is read into its place.
func (f *fields) attr(n *pb.NodeDef) error {
	size, err := f.length()
	if err != nil {
		return err
	}
	if size < largeField {
		b, err := f.next(size)
		if err != nil {
			return err
		}
		entry := protowire.AppendBytes(protowire.AppendTag(nil, attrField, protowire.BytesType), b)
		return proto.Unmarshal(entry, n)
	}
	in, key, v := f.within(size), "", &pb.AttrValue{}
	err = in.read(&emptypb.Empty{}, taking{
		keyField: func() error {
			b, err := in.bytes()
			key = string(b)
			return err
		},
		valueField: func() error { return in.value(v) }})
	n.Attr = map[string]*pb.AttrValue{key: v}
	return err
}

func (f *fields) value(v *pb.AttrValue) error {
	return f.parts(v, func(in *fields) taking {
		return taking{stringField: func() error {
			b, err := in.text()
			v.Value = &pb.AttrValue_S{S: b}
			return err
		}}
	})
}

// parts reads the message m that is the value of a field, as a whole if it is not large.
func (f *fields) parts(m proto.Message, take func(in *fields) taking) error {
	n, err := f.length()
	if err != nil {
		return err
	}
	if n < largeField {
		b, err := f.next(n)
		if err != nil {
			return err
		}
		return f.repeats.merge(b, m)
	}
	in := f.within(n)
	return in.read(m, take(in))
}

// read reads all fields of a message into m, some of them by functions of their
// own.
func (f *fields) read(m proto.Message, take taking) error {
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
	return f.within(n), nil
}

// within begins to read the next n bytes, which are the value of a field.
func (f *fields) within(n int64) *fields {
	f.left -= n
	return &fields{r: f.r, left: n, texts: f.texts, repeats: f.repeats}
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
