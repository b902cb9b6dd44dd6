package xla

import (
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// targets has the rules of custom calls by what they call.
var targets = map[string]rule{}

// addTargets adds the rules of custom calls.
func addTargets(family map[string]rule) {
	for name, r := range family {
		targets[name] = r
	}
}

func init() {
	add(map[string]rule{"custom_call": customCall})
	addTargets(map[string]rule{
		"Sharding": same, "annotate_device_placement": same, "shape_assertion": shapeAssertion,
		"SPMDFullToShardShape": same, "SPMDShardToFullShape": same, "LayoutConstraint": same,
		"mhlo.erf": ofTensor("Erf"), "mhlo.topk": mhloTopK,
		"mhlo.acos": ofTensor("Acos"), "mhlo.acosh": ofTensor("Acosh"), "mhlo.asin": ofTensor("Asin"), "mhlo.asinh": ofTensor("Asinh"),
		"mhlo.atanh": ofTensor("Atanh"), "mhlo.sinh": ofTensor("Sinh"), "mhlo.cosh": ofTensor("Cosh"), "mhlo.tan": ofTensor("Tan"),
	})
}

// targetOf returns what a custom call calls.
func targetOf(op *stablehlo.Op) string {
	name, _ := op.Attr("call_target_name").(stablehlo.String)
	return string(name)
}

func customCall(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := targets[targetOf(op)]
	if r == nil {
		return nil, unsupported(op, "a custom call of %q is not supported", targetOf(op))
	}
	return r(l, op, in)
}

// ofTensor returns what applies one op of TensorFlow's to one tensor.
func ofTensor(name string) rule {
	return checked(1, func(l *lowering, _ *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
		return []tf.Output{l.apply(name, in[0])}, nil
	})
}

// mhloTopK returns the k greatest elements of rows, and where they are.
func mhloTopK(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if len(in) < 1 || len(op.Results) != 2 || len(op.Results[0].Type.Shape) == 0 {
		return nil, refused(op, "a custom call of mhlo.topk must have an operand and two results")
	}
	attrs, _ := op.Attr("mhlo.attributes").(stablehlo.Dict)
	if b, ok := attrs["largest"].(stablehlo.Bool); ok && !bool(b) {
		return nil, unsupported(op, "the least elements of mhlo.topk are not supported")
	}
	s := op.Results[0].Type.Shape
	k := known(int(s[len(s)-1]))
	if k.n < 0 {
		n, ok := attrs["k"].(stablehlo.Int)
		if !ok {
			return nil, unsupported(op, "mhlo.topk must have a number k that is known")
		}
		k = known(int(n.Value))
	}
	out := tf.Apply(l.g, "TopKV2", []tf.Output{in[0], k.in(l.g)})
	return out.Outputs(), out.Err()
}

// shapeAssertion ends the step with a message unless its first operand holds. The
// message refers to the others as "{0}", "{1}".
func shapeAssertion(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if len(in) == 0 || in[0].DType().Base() != tf.Bool {
		return nil, refused(op, "an assertion must have a condition")
	}
	if l.nested > 0 || l.loose {
		return make([]tf.Output, len(op.Results)), nil // it may not run: nothing can wait for it
	}
	message, err := assertionText(op)
	if err != nil {
		return nil, err
	}
	text := ops.StringFormat(l.g, message, orderOf(message, in[1:]), ops.StringFormatOpts{Placeholder: placeholder})
	check := ops.Assert(in[0], []tf.Output{text})
	l.checks = append(l.checks, check)
	return make([]tf.Output, len(op.Results)), check.Err()
}

const placeholder = "\x00"

// assertionText returns the message with marks in the places of values, each with the
// number of the value after it.
func assertionText(op *stablehlo.Op) (string, error) {
	s, ok := op.Attr("error_message").(stablehlo.String)
	if !ok {
		d, _ := op.Attr("mhlo.attributes").(stablehlo.Dict)
		if s, ok = d["error_message"].(stablehlo.String); !ok {
			return "", refused(op, "an assertion must have an attribute error_message")
		}
	}
	return string(s), nil
}

// orderOf returns the values that a message refers to, in its order.
func orderOf(message string, values []tf.Output) (out []tf.Output) {
	for _, part := range strings.Split(message, "{")[1:] {
		number, _, ok := strings.Cut(part, "}")
		if i, err := strconv.Atoi(number); ok && err == nil && i >= 0 && i < len(values) {
			out = append(out, values[i])
		}
	}
	return out
}
