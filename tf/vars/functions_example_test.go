package vars_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Penalties, constraints and partitions of variables are functions; a program may
// write its own.
func ExampleRegularizer() {
	g := tf.NewGraph()
	var penalty vars.Regularizer = func(v tf.Output) tf.Output { return v.Abs().Max() }
	var limit vars.Constraint = func(v tf.Output) tf.Output { return v.Minimum(ops.Scalar[float32](g, 1)) }
	v := vars.Get(g, "v", tf.Shape{4, 2}, vars.Options{Regularizer: vars.Sum(penalty, vars.L2(0.1)), Constraint: limit})
	fmt.Println(v.Constraint() != nil, g.Err())
	// Output: true <nil>
}

// A partitioner cuts variables into parts along one dimension.
func ExamplePartitioner() {
	g := tf.NewGraph()
	var halves vars.Partitioner = func(s tf.Shape, _ tf.DType) []int { return []int{2, 1} }
	vars.Scope(g, "", vars.ScopeOptions{Partitioner: halves}, func() {
		for _, part := range vars.GetPartitioned(g, "v", tf.Shape{4, 2}).Parts {
			fmt.Println(part.Name(), part.Shape())
		}
	})
	fmt.Println(g.Err())
	// Output:
	// v/part_0 [2,2]
	// v/part_1 [2,2]
	// <nil>
}

// A getter stands between a scope and what asks for variables in it.
func ExampleGetter() {
	g := tf.NewGraph()
	traced := func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, o vars.Options) *tf.Variable {
		fmt.Println("asks for", name, s)
		return get(g, name, s, o)
	}
	vars.Scope(g, "layer", vars.ScopeOptions{Getter: traced}, func() { vars.Get(g, "w", tf.Shape{2}) })
	fmt.Println(g.Err())
	// Output:
	// asks for layer/w [2]
	// <nil>
}
