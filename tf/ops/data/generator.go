package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("GeneratorDataset",
		"init_func_other_args: Tinit_func_args; next_func_other_args: Tnext_func_args; finalize_func_other_args: Tfinalize_func_args",
		"init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0; Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; "+plain,
		true, generator)
}

// generator makes datasets whose elements one function makes of a state that
// another has made, until it is out of range. A third gets the state in the end.
func generator(c *core.OpContext) (dataset.Dataset, error) {
	var fs [3]dataset.Func
	at := 0
	for i, name := range []string{"init_func", "next_func", "finalize_func"} {
		end := at + len(c.Node.TypesAttr("T"+name+"_args"))
		f, err := function(c, name, at, end)
		if err != nil {
			return nil, err
		}
		fs[i], at = f, end
	}
	return dataset.Generate(spec(c), func() (dataset.Func, func()) {
		var state []*core.Tensor
		begun := false
		next := func(ctx context.Context, _ []*core.Tensor) ([]*core.Tensor, error) {
			if !begun {
				var err error
				if state, err = fs[0](ctx, nil); err != nil {
					return nil, err
				}
				begun = true
			}
			e, err := fs[1](ctx, state)
			if tf.CodeOf(err) == tf.OutOfRange {
				return nil, dataset.End
			}
			return e, err
		}
		return next, func() {
			if begun {
				_, _ = fs[2](context.Background(), state) // an error could not be reported any more
			}
		}
	}), nil
}
