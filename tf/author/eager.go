package author

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An EvalFunc computes one node at once. It gives as many tensors as n has outputs,
// in dst if that has room for them.
type EvalFunc = func(n *core.Node, in []tf.Output, dst []*core.Tensor) ([]*core.Tensor, error)

// Eager makes a graph compute each operation as it is added. prepare returns what
// computes nodes that are like n but for their name; the graph asks once for nodes
// that are alike. Package eager offers it ready-made.
func Eager(prepare func(n *core.Node) (EvalFunc, error)) tf.GraphOption { return graphs.Eager(prepare) }

// OnSetSeed has again called when SetSeed lets random sequences begin again, after the
// graph has dropped what prepare returned. It is for backends that keep kernels of their
// own, as those of functions, and an option after [Eager].
func OnSetSeed(again func()) tf.GraphOption { return graphs.OnSetSeed(again) }

// OnVariable has made called with each variable that is added to g, an eager graph, and is
// not local, once it has its initial value, and again when it becomes a part of a larger one.
// An error of made is the variable's. It is for what was restored before the variable was
// there; nil ends it.
func OnVariable(g *tf.Graph, made func(v *tf.Variable) error) { graphs.OnVariable(g, made) }

// Computed returns the tensor that an eager graph has computed for x, which stays the
// graph's: it must not be changed. With another graph FailedPrecondition is returned.
func Computed(x tf.Output) (*core.Tensor, error) { return graphs.Computed(x) }

// Home returns the graph in which what functions need and do not make themselves is made,
// such as variables: the eager graph around the function that g is the body of, else g.
func Home(g *tf.Graph) *tf.Graph { return graphs.Home(g) }

// Caller returns where the program called into the library, "main.go:30", and which function
// it called: for errors of what is made outside of graphs. Both are "" where no frame is the
// program's.
func Caller() (pos, function string) { return graphs.Caller() }

// Called returns err, which is not nil, as one of the function that the program called, with
// the program's line: for functions that return errors themselves. One that names a node, or a
// function, stays as it is.
func Called(err error) error { return graphs.Called(err) }

// InFunctions returns the operation that o names in the body of a function of g, for
// backends whose errors say no more than names. Where g has no function of that name,
// or o names none, it is the only operation of the name in all functions; nil if
// there is none, or several are.
func InFunctions(g *tf.Graph, o core.Origin) *tf.Operation { return graphs.InFunctions(g, o) }
