package parsing

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A messageType is a type of protocol buffers that a node names.
type messageType struct {
	protoreflect.MessageDescriptor
	types *dynamicpb.Types
}

// messageTypeOf finds the type by the node's attributes: among those linked
// into the program ("local://"), in a file of descriptors, or in descriptors
// that the attribute itself holds.
func messageTypeOf(n *core.Node) (*messageType, error) {
	files, err := descriptors(n.Str("descriptor_source"))
	if err != nil {
		return nil, err
	}
	name := n.Str("message_type")
	d, err := files.FindDescriptorByName(protoreflect.FullName(name))
	m, ok := d.(protoreflect.MessageDescriptor)
	if err != nil || !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "No descriptor found for message type %s", name)
	}
	return &messageType{m, dynamicpb.NewTypes(files)}, nil
}

func descriptors(source string) (*protoregistry.Files, error) {
	if source == "" || source == "local://" {
		return protoregistry.GlobalFiles, nil
	}
	// When the kernel is made there is no step that could end the wait for a pipe.
	data, err := core.ReadRegular(core.LocalPath(source))
	if err != nil {
		inline, ok := strings.CutPrefix(source, "bytes://")
		if !ok {
			return nil, noDescriptors(source)
		}
		data = []byte(inline)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if uerr := proto.Unmarshal(data, set); uerr != nil {
		if err != nil {
			return nil, noDescriptors(source)
		}
		return nil, tf.Errorf(tf.InvalidArgument, "descriptor_source contains invalid FileDescriptorSet: %s", source)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Failed to load FileDescriptorProto: %v", err)
	}
	return files, nil
}

func noDescriptors(source string) error {
	return tf.Errorf(tf.InvalidArgument, "Source does not represent serialized file descriptor set proto. "+
		"This may be due to a missing dependency on the file containing REGISTER_DESCRIPTOR_POOL(\"%s\", ...);", source)
}

// field returns a field by its name, or an extension by its full name.
func (m *messageType) field(name string, extensions bool) (protoreflect.FieldDescriptor, error) {
	if f := m.Fields().ByName(protoreflect.Name(name)); f != nil {
		return f, nil
	}
	if extensions {
		x, err := m.types.FindExtensionByName(protoreflect.FullName(name))
		if err == nil && x.TypeDescriptor().ContainingMessage().FullName() == m.FullName() {
			return x.TypeDescriptor(), nil
		}
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Unknown field: %s in message type %s", name, m.FullName())
}

// fieldTypes lists the types of tensors that hold a kind of field.
var fieldTypes = map[protoreflect.Kind][]tf.DType{
	protoreflect.DoubleKind: {tf.Float64}, protoreflect.FloatKind: {tf.Float32, tf.Float64},
	protoreflect.Int64Kind: {tf.Int64}, protoreflect.Sint64Kind: {tf.Int64}, protoreflect.Sfixed64Kind: {tf.Int64},
	protoreflect.Uint64Kind: {tf.Uint64}, protoreflect.Fixed64Kind: {tf.Uint64},
	protoreflect.Int32Kind: {tf.Int32, tf.Int64}, protoreflect.Sint32Kind: {tf.Int32, tf.Int64}, protoreflect.Sfixed32Kind: {tf.Int32, tf.Int64},
	protoreflect.Uint32Kind: {tf.Uint32, tf.Uint64}, protoreflect.Fixed32Kind: {tf.Uint32, tf.Uint64},
	protoreflect.BoolKind: {tf.Bool}, protoreflect.EnumKind: {tf.Int32},
	protoreflect.StringKind: {tf.String}, protoreflect.BytesKind: {tf.String}, protoreflect.MessageKind: {tf.String}, protoreflect.GroupKind: {tf.String},
}

func holds(d tf.DType, k protoreflect.Kind) bool { return slices.Contains(fieldTypes[k], d) }

// wireTypes says how a value of a kind lies in a message, when it is not packed.
var wireTypes = map[protoreflect.Kind]protowire.Type{
	protoreflect.DoubleKind: protowire.Fixed64Type, protoreflect.Fixed64Kind: protowire.Fixed64Type, protoreflect.Sfixed64Kind: protowire.Fixed64Type,
	protoreflect.FloatKind: protowire.Fixed32Type, protoreflect.Fixed32Kind: protowire.Fixed32Type, protoreflect.Sfixed32Kind: protowire.Fixed32Type,
	protoreflect.StringKind: protowire.BytesType, protoreflect.BytesKind: protowire.BytesType, protoreflect.MessageKind: protowire.BytesType,
	protoreflect.GroupKind: protowire.StartGroupType,
	// all others are varints, which is 0
}

// repeated reports whether a message may have several values of a field. Those of a map are
// its entries.
func repeated(f protoreflect.FieldDescriptor) bool { return f.Cardinality() == protoreflect.Repeated }

// cppType names a kind as C++ does.
func cppType(k protoreflect.Kind) string {
	switch k {
	case protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return "int32"
	case protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return "int64"
	case protoreflect.Fixed32Kind:
		return "uint32"
	case protoreflect.Fixed64Kind:
		return "uint64"
	case protoreflect.BytesKind:
		return "string"
	case protoreflect.GroupKind:
		return "message"
	}
	return k.String()
}
