// Package author has what authors of operations need of graphs, beside packages tf
// and core: arguments that may be Go values or tensors, operations that call
// functions, their gradients; and what libraries over graphs need: elements of
// collections in MetaGraphs, and graphs that compute as they are built. Programs
// that build and run graphs need none of it.
//
// Package core registers an operation with its signature, shape function and
// kernels; docs/add-an-op.md shows one from start to end. A function that adds the
// operation to a graph joins its own options with its caller's by [tf.Join] and adds
// it by [tf.Apply]; arguments that Python's functions take as plain integers or
// numbers become tensors by [AsInts], [AsInt] and [AsOperand]:
//
//	func Tile[I tf.Ints](x tf.Output, multiples I, opts ...tf.Option) tf.Output {
//		return tf.Apply(nil, "Tile", []tf.Output{x, author.AsInts(x, multiples)}, opts...).Output(0)
//	}
//
// If no operation can be added, the function returns [tf.Failed].
package author

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/authoring"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// graphs is package tf's side of this package. It has been set when this package is
// initialized, since this package imports tf.
var graphs = authoring.Face.(interface {
	AsInts(x tf.Output, v any) tf.Output
	AsInt(x tf.Output, v any) tf.Output
	AsOperand(x tf.Output, v any) tf.Output
	IntsOf(g *tf.Graph, v any) tf.Output

	CallLater(op string, first []tf.Output, attrs []string, fs []*tf.Function, last []tf.Output, opts []tf.Option) *tf.Operation
	CallBranch(op string, selector tf.Output, args []tf.Output, branches []*tf.Function, opts []tf.Option) []tf.Output
	CallLoop(op string, vars []tf.Output, cond, body *tf.Function, opts []tf.Option) []tf.Output

	CallGradient(name string, in []tf.Output, skip int, op *tf.Operation, dy []tf.Output, opts []tf.Option) []tf.Output
	CallGradients(op *tf.Operation, dy []tf.Output) []tf.Gradient
	BranchGradients(op *tf.Operation, branches []core.Func, dy []tf.Output) []tf.Gradient
	LoopGradients(op *tf.Operation, dy []tf.Output) []tf.Gradient
	SplitGradients(in, grads []tf.Output) []tf.Gradient

	Caller() (pos, function string)
	Called(err error) error
	Home(g *tf.Graph) *tf.Graph
	Computed(x tf.Output) (*core.Tensor, error)
	InFunctions(g *tf.Graph, o core.Origin) *tf.Operation
	Eager(prepare func(n *core.Node) (EvalFunc, error)) tf.GraphOption
	OnSetSeed(again func()) tf.GraphOption
	OnVariable(g *tf.Graph, made func(v *tf.Variable) error)
	Reopen(g *tf.Graph)
	RegisterCollection(names []string, encode func(v any, scope string) proto.Message, decode func(g *tf.Graph, data []byte, scope string) (any, error))
})
