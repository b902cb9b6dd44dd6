package pb

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
)

const (
	// ourPackage and theirPackage are the roots of the same tree of messages.
	ourPackage   = "gorge."
	theirPackage = "tensorflow."

	typeURLPrefix = "type.googleapis.com/"
)

// TensorFlowName returns the full name by which TensorFlow knows a message of
// this package; the name of any other message is returned unchanged.
func TensorFlowName(name protoreflect.FullName) protoreflect.FullName {
	if rest, ok := strings.CutPrefix(string(name), ourPackage); ok {
		return protoreflect.FullName(theirPackage + rest)
	}
	return name
}

// gorgeName is the inverse of TensorFlowName.
func gorgeName(name protoreflect.FullName) protoreflect.FullName {
	if rest, ok := strings.CutPrefix(string(name), theirPackage); ok {
		return protoreflect.FullName(ourPackage + rest)
	}
	return name
}

// PackAny wraps m under the type URL that TensorFlow gives it, for example
// type.googleapis.com/tensorflow.AssetFileDef.
func PackAny(m proto.Message) (*anypb.Any, error) {
	if m == nil || !m.ProtoReflect().IsValid() {
		return nil, errors.New("a packed message must not be nil")
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	name := TensorFlowName(m.ProtoReflect().Descriptor().FullName())
	return &anypb.Any{TypeUrl: typeURLPrefix + string(name), Value: value}, nil
}

// UnpackAny decodes a into m, which must be of the type that a names.
func UnpackAny(a *anypb.Any, m proto.Message) error {
	if m == nil || !m.ProtoReflect().IsValid() {
		return errors.New("the message to unpack into must not be nil")
	}
	want := TensorFlowName(m.ProtoReflect().Descriptor().FullName())
	if got := messageName(a.GetTypeUrl()); got != want {
		return fmt.Errorf("an Any must hold the type that is asked for: asked for %s, holds %q", want, a.GetTypeUrl())
	}
	return proto.Unmarshal(a.GetValue(), m)
}

// messageName is the full name in a type URL: all that follows its last slash.
func messageName(url string) protoreflect.FullName {
	return protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:])
}

// Resolver finds message types by TensorFlow's full names. Give it to prototext
// and protojson, which expand a google.protobuf.Any by the name it carries.
var Resolver resolver

type resolver struct{}

// FindMessageByName implements protoregistry.MessageTypeResolver.
func (resolver) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	return protoregistry.GlobalTypes.FindMessageByName(gorgeName(name))
}

// FindMessageByURL implements protoregistry.MessageTypeResolver.
func (r resolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return r.FindMessageByName(messageName(url))
}

// FindExtensionByName implements protoregistry.ExtensionTypeResolver.
func (resolver) FindExtensionByName(name protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return protoregistry.GlobalTypes.FindExtensionByName(name)
}

// FindExtensionByNumber implements protoregistry.ExtensionTypeResolver.
func (resolver) FindExtensionByNumber(message protoreflect.FullName, n protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return protoregistry.GlobalTypes.FindExtensionByNumber(message, n)
}
