package savedmodel

import (
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// The numbers of the fields of NodeDef that are read without package proto.
const (
	nameField   = 1
	opField     = 2
	inputField  = 3
	deviceField = 4
)

// smallEntry is the size up to which entries of attributes are shared.
const smallEntry = 256

// repeats are the small values that nodes of a message have alike. A graph has the same
// types, formats and strides thousands of times. As messages they take ten times what
// they take in the file, and more time to read than all else.
type repeats struct {
	attrs map[string]attribute // by the bytes of the entry
	words map[string]string    // names of ops and devices
}

type attribute struct {
	key   string
	value *pb.AttrValue
}

func newRepeats() *repeats {
	return &repeats{attrs: map[string]attribute{}, words: map[string]string{}}
}

// merge is proto.Merge of the message m and the one that b encodes.
func (r *repeats) merge(b []byte, m proto.Message) error {
	if r != nil {
		switch m := m.(type) {
		case *pb.NodeDef:
			return r.node(b, m)
		case *pb.FunctionDef:
			return r.function(b, m)
		case *pb.FunctionDefLibrary:
			return r.library(b, m)
		}
	}
	return proto.UnmarshalOptions{Merge: true}.Unmarshal(b, m)
}

func (r *repeats) library(b []byte, l *pb.FunctionDefLibrary) error {
	return mergeFields(b, l, func(num protowire.Number, v []byte) (bool, error) {
		if num != functionField {
			return false, nil
		}
		d := &pb.FunctionDef{}
		l.Function = append(l.Function, d)
		return true, r.function(v, d)
	})
}

func (r *repeats) function(b []byte, d *pb.FunctionDef) error {
	return mergeFields(b, d, func(num protowire.Number, v []byte) (bool, error) {
		if num != functionNodeField {
			return false, nil
		}
		n := &pb.NodeDef{}
		d.NodeDef = append(d.NodeDef, n)
		return true, r.node(v, n)
	})
}

func (r *repeats) node(b []byte, n *pb.NodeDef) error {
	return mergeFields(b, n, func(num protowire.Number, v []byte) (bool, error) {
		switch {
		case num == attrField:
			return r.attr(v, n)
		case num > deviceField || !utf8.Valid(v): // package proto says what is wrong with it
			return false, nil
		case num == nameField:
			n.Name = string(v)
		case num == opField:
			n.Op = r.word(v)
		case num == inputField:
			n.Input = append(n.Input, string(v))
		case num == deviceField:
			n.Device = r.word(v)
		}
		return true, nil
	})
}

// word is string(v), in memory once.
func (r *repeats) word(v []byte) string {
	s, ok := r.words[string(v)]
	if !ok {
		s = string(v)
		r.words[s] = s
	}
	return s
}

// attr adds the attribute that an entry encodes to n, if the entry is small. Tensors are
// not shared: programs may take over their memory.
func (r *repeats) attr(entry []byte, n *pb.NodeDef) (bool, error) {
	if len(entry) > smallEntry {
		return false, nil
	}
	a, ok := r.attrs[string(entry)]
	if !ok {
		one := &pb.NodeDef{}
		if err := proto.Unmarshal(protowire.AppendBytes(protowire.AppendTag(nil, attrField, protowire.BytesType), entry), one); err != nil {
			return true, err
		}
		for a.key, a.value = range one.Attr {
		}
		if a.value.GetTensor() == nil {
			r.attrs[string(entry)] = a
		}
	}
	if n.Attr == nil {
		n.Attr = map[string]*pb.AttrValue{}
	}
	n.Attr[a.key] = a.value
	return true, nil
}

// mergeFields reads the message that b encodes into m, field by field. take gets the values
// of the fields of bytes, and reports whether it has read one.
func mergeFields(b []byte, m proto.Message, take func(num protowire.Number, v []byte) (bool, error)) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		field := b[:n]
		b = b[n:]
		if typ == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(field)
			v, _ := protowire.ConsumeBytes(field[tag:])
			if taken, err := take(num, v); err != nil || taken {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(field, m); err != nil {
			return err
		}
	}
	return nil
}
