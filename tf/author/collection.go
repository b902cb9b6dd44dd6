package author

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
)

// A CollectionCodec writes elements of collections into MetaGraphs and reads
// them: what is not a number, a string, an operation or an output.
type CollectionCodec struct {
	Names []string // of the collections
	// Encode returns v as a message, nil if v is of another kind or not in scope.
	Encode func(v any, scope string) proto.Message
	// Decode returns the element that data holds, whose nodes g has below scope.
	Decode func(g *tf.Graph, data []byte, scope string) (any, error)
}

// Reopen undoes [tf.Graph.Finalize], for libraries that finalize a graph for some time:
// after it, operations can be added again.
func Reopen(g *tf.Graph) { graphs.Reopen(g) }

// RegisterCollection makes the elements of collections part of MetaGraphs. It is
// called while a program starts, and panics if a collection has a codec already.
func RegisterCollection(c CollectionCodec) { graphs.RegisterCollection(c.Names, c.Encode, c.Decode) }
