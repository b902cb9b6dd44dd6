package data_test

import (
	list "slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// node is a field of a GraphDef.
func node(name, op string, in ...string) []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), op)
	for _, x := range in {
		b = protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), x)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
}

func join(parts ...[]byte) []byte { return list.Concat(parts...) }
