package tf

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/authoring"
	"github.com/gorge-tf/gorge/tf/core"
)

// face is what package tf/author offers to authors of operations, of libraries and
// of backends, and what programs need not see. Package author documents it.
type face struct{}

func init() { authoring.Face = face{} }

func (face) CallLater(op string, first []Output, attrs []string, fs []*Function, last []Output, opts []Option) *Operation {
	return callLater(op, first, attrs, fs, last, opts...)
}

func (face) CallBranch(op string, selector Output, args []Output, branches []*Function, opts []Option) []Output {
	return callBranch(op, selector, args, branches, opts...)
}

func (face) CallLoop(op string, vars []Output, cond, body *Function, opts []Option) []Output {
	return callLoop(op, vars, cond, body, opts...)
}

func (face) CallGradient(name string, in []Output, skip int, op *Operation, dy []Output, opts []Option) []Output {
	return addGradientCall(name, in, skip, op, dy, opts...)
}

func (face) CallGradients(op *Operation, dy []Output) []Gradient { return callGradients(op, dy) }

func (face) BranchGradients(op *Operation, branches []core.Func, dy []Output) []Gradient {
	return branchGradients(op, branches, dy)
}

func (face) LoopGradients(op *Operation, dy []Output) []Gradient { return loopGradients(op, dy) }

func (face) SplitGradients(in, grads []Output) []Gradient { return splitGradients(in, grads) }

func (face) InFunctions(g *Graph, o core.Origin) *Operation { return g.inFunctions(o) }

func (face) IntsOf(g *Graph, v any) Output { return intsOf(g, v) }

func (face) Caller() (pos, function string) {
	c := calledAt()
	return c.at, c.function
}

func (face) Called(err error) error { return calling(err) }

func (face) AsInts(x Output, v any) Output { return asInts(x, v) }

func (face) AsInt(x Output, v any) Output { return asInt(x, v) }

func (face) AsOperand(x Output, v any) Output { return asOperand(x, v) }

func (face) Computed(x Output) (*core.Tensor, error) { return x.computed() }

func (face) Home(g *Graph) *Graph {
	if g != nil && g.outermost().IsEager() {
		return g.outermost()
	}
	return g
}

func (face) Eager(prepare func(n *core.Node) (evalFunc, error)) GraphOption {
	return func(g *Graph) { g.eager.cache = &eagerCache{prepareNode: prepare} }
}

func (face) Reopen(g *Graph) { g.outermost().published.finalize(false) }

func (face) OnSetSeed(again func()) GraphOption {
	return func(g *Graph) {
		if g.IsEager() {
			g.eager.cache.again = again
		}
	}
}

func (face) OnVariable(g *Graph, made func(v *Variable) error) { g.eager.made = made }

func (face) RegisterCollection(names []string, encode func(v any, scope string) proto.Message, decode func(g *Graph, data []byte, scope string) (any, error)) {
	registerCollection(collectionCodec{names, encode, decode})
}
