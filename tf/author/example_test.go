package author_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/data" // MapDefun
	"github.com/gorge-tf/gorge/tf/session"
)

// repeated takes its multiples as integers or as a tensor.
func repeated[I tf.Ints](x tf.Output, multiples I, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "Tile", []tf.Output{x, author.AsInts(x, multiples)}, opts...).Output(0)
}

func ExampleAsInts() {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2})
	fixed := repeated(x, []int{2})
	known := repeated(x, ops.Const(g, []int64{3}))
	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, y := range []tf.Output{fixed, known} {
		v, err := session.Fetch[float32](context.Background(), s, nil, y)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(v)
	}
	// Output:
	// [1 2 1 2]
	// [1 2 1 2 1 2]
}

func ExampleComputed() {
	x := ops.Const(eager.New(), []float32{1, 2}).Add(1)
	t, err := author.Computed(x) // without a copy: to be read only
	fmt.Println(t.Shape(), t.DType(), err)
	// Output: [2] float32 <nil>
}

// MapDefun calls the function in its attribute f with each row of x. Outputs that the
// function takes from around it become inputs of the operation.
func ExampleCallee() {
	g := tf.NewGraph()
	x, ten := ops.Const(g, []int64{1, 2, 3, 4}, 2, 2), ops.Scalar[int64](g, 10)
	row := []tf.ArgSpec{{DType: tf.Int64, Shape: tf.Shape{2}}}
	f := tf.NewFunction(g, "scaled", row, func(in []tf.Output) []tf.Output {
		return []tf.Output{in[0].Mul(ten)}
	})
	o := author.CallLater("MapDefun", []tf.Output{x}, []author.Callee{{Attr: "f", F: f}}, nil,
		tf.Attr("Targuments", []tf.DType{tf.Int64}),
		tf.Attr("output_types", []tf.DType{tf.Int64}),
		tf.Attr("output_shapes", []tf.Shape{{2}}))
	fmt.Println(len(o.Inputs()))
	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(session.Fetch[int64](context.Background(), s, nil, o.Output(0)))
	// Output:
	// 2
	// [10 20 30 40] <nil>
}

// negatives computes constants and their negatives, and nothing else.
func negatives(n *core.Node) (author.EvalFunc, error) {
	switch n.OpName() {
	case "Const":
		return func(n *core.Node, _ []tf.Output, dst []*core.Tensor) ([]*core.Tensor, error) {
			return append(dst[:0], n.TensorAttr("value")), nil
		}, nil
	case "Neg":
		return func(_ *core.Node, in []tf.Output, dst []*core.Tensor) ([]*core.Tensor, error) {
			x, err := author.Computed(in[0])
			if err != nil {
				return nil, err
			}
			return append(dst[:0], core.Scalar(-core.Data[float32](x)[0])), nil
		}, nil
	}
	return nil, tf.Errorf(tf.Unimplemented, "only negatives are computed, got %s", n.OpName())
}

// A graph computes by a function of one's own as it is built.
func ExampleEvalFunc() {
	g := tf.NewGraph(author.Eager(negatives))
	x := ops.Scalar[float32](g, 3)
	fmt.Println(x.Neg().Value())
	fmt.Println(tf.CodeOf(x.Square().Err()))
	// Output:
	// float32[]{-3} <nil>
	// UNIMPLEMENTED
}

// A unit is an element of a collection of the examples.
type unit string

func init() {
	author.RegisterCollection(author.CollectionCodec{
		Names: []string{"units"},
		Encode: func(v any, _ string) proto.Message {
			if u, ok := v.(unit); ok {
				return wrapperspb.String(string(u))
			}
			return nil
		},
		Decode: func(_ *tf.Graph, data []byte, _ string) (any, error) {
			m := &wrapperspb.StringValue{}
			err := proto.Unmarshal(data, m)
			return unit(m.GetValue()), err
		},
	})
}

// A package registers while it is initialized how elements of its collections are
// written; MetaGraphs then have them.
func ExampleCollectionCodec() {
	g, other := tf.NewGraph(), tf.NewGraph()
	g.AddToCollection("units", unit("metre"))
	data, err := g.MarshalMetaGraph(tf.MetaGraphOptions{})
	if err != nil {
		log.Fatal(err)
	}
	err = other.ImportMetaGraph(data, tf.ImportOptions{})
	fmt.Printf("%#v %v\n", other.Collection("units"), err)
	// Output: []interface {}{"metre"} <nil>
}
