package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

func init() { add(map[string]rule{"custom_call": customCall}) }

// customCalls has the rules of custom calls by the names of their targets.
var customCalls = map[string]rule{}

// addCustomCalls adds the rules of a family of targets.
func addCustomCalls(family map[string]rule) {
	for name, r := range family {
		customCalls[name] = r
	}
}

func customCall(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	name := target(op)
	r, ok := customCalls[name]
	if !ok {
		return nil, unsupported(op, "its target %q is not supported", name)
	}
	return r(l, op, in)
}

// target returns the name of a custom call's target.
func target(op *stablehlo.Op) string {
	name, _ := op.Attr("call_target_name").(stablehlo.String)
	return string(name)
}

// dict returns an attribute of a custom call in one of its dictionaries, nil if there
// is none.
func dict(op *stablehlo.Op, dictionary, name string) stablehlo.Attr {
	d, _ := op.Attr(dictionary).(stablehlo.Dict)
	return d[name]
}
