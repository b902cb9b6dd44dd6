package collective_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
	"github.com/gorge-tf/gorge/tf/session"
)

// Each of two devices has a gradient and gets the mean of both.
func ExampleGroup() {
	g := tf.NewGraph()
	var means []tf.Fetchable
	for i, gradient := range [][]float32{{1, 2}, {3, 6}} {
		g.Device(fmt.Sprintf("/device:CPU:%d", i), func() {
			group := collective.Group{Size: 2, Key: 1, Instance: 1, TimeoutSeconds: 60}
			means = append(means, collective.Reduce(ops.Const(g, gradient), group, "Add", "Div"))
		})
	}
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, means...)
	fmt.Println(out, err)
	// Output: [float32[2]{2, 4} float32[2]{2, 4}] <nil>
}

// The numbers of a group may be tensors. Each of two devices gets the values of
// both, one after the other.
func ExampleKeys() {
	g := tf.NewGraph()
	var all []tf.Fetchable
	for i, x := range [][]float32{{1}, {2}} {
		g.Device(fmt.Sprintf("/device:CPU:%d", i), func() {
			k := collective.Keys{Size: ops.Scalar[int32](g, 2), Key: ops.Scalar[int32](g, 1), Instance: ops.Scalar[int32](g, 1)}
			all = append(all, collective.GatherV2(ops.Const(g, x), k))
		})
	}
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, all...)
	fmt.Println(out, err)
	// Output: [float32[2]{1, 2} float32[2]{1, 2}] <nil>
}
