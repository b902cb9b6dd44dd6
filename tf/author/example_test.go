package author_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
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
