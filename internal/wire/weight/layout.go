package weight

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// What Go allocates beside the values themselves, on 64 bits.
const (
	pointer  = 8
	header   = 24 // of a string or a slice, in a list
	boxed    = 32 // a member of a oneof has a struct of its own
	mapEntry = 96 // key and value with their share of the table, which is half empty
	grown    = 2  // a list that grows has room for about twice its elements, once
)

// A layout is what a kind of message takes.
type layout struct {
	size   int // of its Go struct
	low    [32]*field
	high   map[protowire.Number]*field
	others field // fields that the message does not have: tag and bytes are kept
}

// A field is what each value of one takes.
type field struct {
	each    int            // beside its bytes
	width   int            // of a number in a list; 0: it is no list of numbers
	fixed   int            // bytes of each on the wire; 0: they differ
	message func() *layout // nil: it is no message
}

func (l *layout) field(n protowire.Number) *field {
	f := l.high[n]
	if int(n) < len(l.low) {
		f = l.low[n]
	}
	if f == nil {
		return &l.others
	}
	return f
}

// layouts has those that were asked for, by the names of messages.
var layouts sync.Map // protoreflect.FullName → *layout

// layoutOf returns the layout of a kind of message. It makes those of the messages
// within it when they are first met, since messages may contain themselves.
func layoutOf(t protoreflect.MessageType) *layout {
	name := t.Descriptor().FullName()
	if l, ok := layouts.Load(name); ok {
		return l.(*layout)
	}
	l, _ := layouts.LoadOrStore(name, newLayout(t.Descriptor(), structSize(t)))
	return l.(*layout)
}

// structSize is the size of the Go struct of a message; a message that is made at run
// time has none, and takes about as much.
func structSize(t protoreflect.MessageType) int {
	s := reflect.TypeOf(t.Zero().Interface())
	if s.Kind() != reflect.Pointer {
		return header
	}
	return int(s.Elem().Size())
}

func newLayout(d protoreflect.MessageDescriptor, size int) *layout {
	l := &layout{size: size, high: map[protowire.Number]*field{}, others: field{each: 1}}
	for i := range d.Fields().Len() {
		fd := d.Fields().Get(i)
		f := newField(fd)
		if n := fd.Number(); int(n) < len(l.low) {
			l.low[n] = f
		} else {
			l.high[n] = f
		}
	}
	return l
}

func newField(fd protoreflect.FieldDescriptor) *field {
	f := &field{}
	if fd.ContainingOneof() != nil {
		f.each += boxed
	}
	switch k := fd.Kind(); {
	case fd.IsMap():
		f.message = sync.OnceValue(func() *layout { return newLayout(fd.Message(), mapEntry) })
	case k == protoreflect.MessageKind || k == protoreflect.GroupKind:
		f.message = func() *layout { return messageLayout(fd.Message()) }
		if fd.IsList() {
			f.each += grown * pointer
		}
	case k == protoreflect.StringKind || k == protoreflect.BytesKind:
		if fd.IsList() {
			f.each += grown * header
		}
	case fd.IsList():
		f.width, f.fixed = widthOf(k), fixedSize(k)
		f.each += grown * f.width
	}
	return f
}

// messageLayout returns the layout of the messages in a field.
func messageLayout(d protoreflect.MessageDescriptor) *layout {
	if l, ok := layouts.Load(d.FullName()); ok {
		return l.(*layout)
	}
	t, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil { // it has no Go type, and is made at run time
		l, _ := layouts.LoadOrStore(d.FullName(), newLayout(d, header))
		return l.(*layout)
	}
	return layoutOf(t)
}

// widthOf is the size of a number in memory.
func widthOf(k protoreflect.Kind) int {
	switch k {
	case protoreflect.BoolKind:
		return 1
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind, protoreflect.EnumKind:
		return 4
	}
	return 8
}

// fixedSize is how many bytes a number takes on the wire, 0 if that depends on it.
func fixedSize(k protoreflect.Kind) int {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return 4
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return 8
	}
	return 0
}
