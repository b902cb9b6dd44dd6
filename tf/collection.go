package tf

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// variableCollections are those whose elements are variables.
var variableCollections = []string{GlobalVariables, TrainableVariables, LocalVariables, ModelVariables, MovingAverageVariables, GlobalStep, "metric_variables"}

// A collectionCodec writes elements of collections into MetaGraphs and reads them:
// what is not a number, a string, an operation or an output.
type collectionCodec struct {
	names []string // of the collections
	// encode returns v as a message, nil if v is of another kind or not in scope.
	encode func(v any, scope string) proto.Message
	// decode returns the element that data holds, whose nodes g has below scope.
	decode func(g *Graph, data []byte, scope string) (any, error)
}

var codecs = map[string]*collectionCodec{}

func registerCollection(c collectionCodec) {
	for _, name := range c.names {
		if codecs[name] != nil {
			panic("tf: collection " + name + " is registered twice")
		}
		codecs[name] = &c
	}
}

func init() {
	registerCollection(collectionCodec{
		names:  variableCollections,
		decode: decodeVariable,
		encode: func(v any, scope string) proto.Message {
			if v, ok := v.(*Variable); ok {
				return orNothing(v.Proto(scope))
			}
			return nil
		},
	})
	registerCollection(collectionCodec{
		names:  []string{CondContexts},
		decode: decodeContext(func(p *pb.CondContextDef) *pb.ControlFlowContextDef { return condContextDef(p) }),
		encode: encodeContext(func(p *pb.ControlFlowContextDef) proto.Message { return orNothing(p.GetCondCtxt()) }),
	})
	registerCollection(collectionCodec{
		names:  []string{WhileContexts},
		decode: decodeContext(func(p *pb.WhileContextDef) *pb.ControlFlowContextDef { return whileContextDef(p) }),
		encode: encodeContext(func(p *pb.ControlFlowContextDef) proto.Message { return orNothing(p.GetWhileCtxt()) }),
	})
}

// orNothing returns m, or an interface that is nil if m is.
func orNothing[M interface {
	comparable
	proto.Message
}](m M) proto.Message {
	var none M
	if m == none {
		return nil
	}
	return m
}

func condContextDef(p *pb.CondContextDef) *pb.ControlFlowContextDef {
	return &pb.ControlFlowContextDef{Ctxt: &pb.ControlFlowContextDef_CondCtxt{CondCtxt: p}}
}

func whileContextDef(p *pb.WhileContextDef) *pb.ControlFlowContextDef {
	return &pb.ControlFlowContextDef{Ctxt: &pb.ControlFlowContextDef_WhileCtxt{WhileCtxt: p}}
}

func encodeContext(of func(*pb.ControlFlowContextDef) proto.Message) func(any, string) proto.Message {
	return func(v any, scope string) proto.Message {
		if c, ok := v.(*ControlFlowContext); ok {
			return of(c.Proto(scope))
		}
		return nil
	}
}

func decodeContext[P any, M interface {
	*P
	proto.Message
}](whole func(M) *pb.ControlFlowContextDef) func(*Graph, []byte, string) (any, error) {
	return func(g *Graph, data []byte, scope string) (any, error) {
		def := M(new(P))
		if err := proto.Unmarshal(data, def); err != nil {
			return nil, Errorf(InvalidArgument, "a collection of contexts must hold their definitions: %v", err)
		}
		return g.importContext(whole(def), scope)
	}
}

// collectionProto returns the elements of a collection that MetaGraphs can hold,
// nil if there are none.
func (g *Graph) collectionProto(name, scope string) (*pb.CollectionDef, error) {
	var out collectionWriter
	for _, v := range g.scope.collection(name) {
		if err := out.add(codecs[name], v, scope); err != nil {
			return nil, err
		}
	}
	return out.def(name)
}

// collectionWriter sorts elements by the field of a CollectionDef that holds
// them.
type collectionWriter struct {
	nodes    []string
	bytes    [][]byte
	integers []int64
	floats   []float32
}

func (w *collectionWriter) add(c *collectionCodec, v any, scope string) error {
	if c != nil {
		if m := c.encode(v, scope); m != nil {
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			w.bytes = append(w.bytes, b)
			return err
		}
	}
	switch v := v.(type) {
	case Output:
		w.nodes = append(w.nodes, strip(v.Name(), scope))
	case *Operation:
		w.nodes = append(w.nodes, strip(v.Name, scope))
	case string:
		w.bytes = append(w.bytes, []byte(v))
	case []byte:
		w.bytes = append(w.bytes, v)
	case int:
		w.integers = append(w.integers, int64(v))
	case int64:
		w.integers = append(w.integers, v)
	case float32:
		w.floats = append(w.floats, v)
	case float64:
		w.floats = append(w.floats, float32(v))
	}
	return nil
}

// def returns what was added, which must be of one kind.
func (w *collectionWriter) def(name string) (*pb.CollectionDef, error) {
	var kinds []*pb.CollectionDef
	if w.nodes != nil {
		kinds = append(kinds, &pb.CollectionDef{Kind: &pb.CollectionDef_NodeList_{NodeList: &pb.CollectionDef_NodeList{Value: w.nodes}}})
	}
	if w.bytes != nil {
		kinds = append(kinds, &pb.CollectionDef{Kind: &pb.CollectionDef_BytesList_{BytesList: &pb.CollectionDef_BytesList{Value: w.bytes}}})
	}
	if w.integers != nil {
		kinds = append(kinds, &pb.CollectionDef{Kind: &pb.CollectionDef_Int64List_{Int64List: &pb.CollectionDef_Int64List{Value: w.integers}}})
	}
	if w.floats != nil {
		kinds = append(kinds, &pb.CollectionDef{Kind: &pb.CollectionDef_FloatList_{FloatList: &pb.CollectionDef_FloatList{Value: w.floats}}})
	}
	switch len(kinds) {
	case 0:
		return nil, nil
	case 1:
		return kinds[0], nil
	}
	return nil, Errorf(InvalidArgument, "the elements of a collection must be of one kind to be written, those of %q are of %d", name, len(kinds))
}

// importCollection adds the elements that def holds to a collection of g.
func (g *Graph) importCollection(name string, def *pb.CollectionDef, scope string) error {
	switch k := def.GetKind().(type) {
	case *pb.CollectionDef_NodeList_:
		return g.importNodes(name, k.NodeList.GetValue(), scope)
	case *pb.CollectionDef_BytesList_:
		return g.importBytes(name, k.BytesList.GetValue(), scope)
	case *pb.CollectionDef_Int64List_:
		for _, v := range k.Int64List.GetValue() {
			g.AddToCollection(name, v)
		}
	case *pb.CollectionDef_FloatList_:
		for _, v := range k.FloatList.GetValue() {
			g.AddToCollection(name, v)
		}
	}
	return nil
}

func (g *Graph) importNodes(name string, nodes []string, scope string) error {
	n := finder{g: g, scope: scope}
	for _, s := range nodes {
		if _, err := g.Output(n.name(s)); err == nil && strings.Contains(s, ":") {
			g.AddToCollection(name, n.output(s))
			continue
		}
		if op := n.operation(s); op != nil {
			g.AddToCollection(name, op)
		}
	}
	return n.err
}

// importBytes reads messages, or keeps as strings the bytes of a collection without a
// codec.
func (g *Graph) importBytes(name string, elems [][]byte, scope string) error {
	c := codecs[name]
	for _, b := range elems {
		if c == nil {
			g.AddToCollection(name, string(b))
			continue
		}
		v, err := c.decode(g, b, scope)
		if err != nil {
			return err
		}
		g.AddToCollection(name, v)
	}
	return nil
}
