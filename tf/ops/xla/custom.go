package xla

import (
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addCustomCalls(map[string]rule{
		"Sharding": same, "annotate_device_placement": same, "shape_assertion": shapeAssertion,
		"SPMDFullToShardShape": same, "SPMDShardToFullShape": same, "LayoutConstraint": same,
		"mhlo.erf":  ofTensor("Erf"),
		"mhlo.acos": ofTensor("Acos"), "mhlo.acosh": ofTensor("Acosh"), "mhlo.asin": ofTensor("Asin"), "mhlo.asinh": ofTensor("Asinh"),
		"mhlo.atanh": ofTensor("Atanh"), "mhlo.sinh": ofTensor("Sinh"), "mhlo.cosh": ofTensor("Cosh"), "mhlo.tan": ofTensor("Tan"),
	})
}

// ofTensor returns what applies one op of TensorFlow's to one tensor.
func ofTensor(name string) rule {
	return checked(1, func(l *lowering, _ *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
		return []tf.Output{l.apply(name, in[0])}, nil
	})
}

// shapeAssertion ends the step with a message unless its first operand holds. The
// message refers to the others as "{0}", "{1}".
func shapeAssertion(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if len(in) == 0 || in[0].DType().Base() != tf.Bool {
		return nil, refused(op, "an assertion must have a condition")
	}
	if l.loose {
		return make([]tf.Output, len(op.Results)), nil // reducers are given no shapes
	}
	message, err := assertionText(op)
	if err != nil {
		return nil, err
	}
	message, values := marked(message, in[1:])
	text := ops.StringFormat(l.g, message, values, ops.StringFormatOpts{Placeholder: mark})
	check := ops.Assert(in[0], []tf.Output{text})
	if l.nested > 0 {
		l.inner = append(l.inner, check)
	} else {
		l.checks = append(l.checks, check)
	}
	return make([]tf.Output, len(op.Results)), check.Err()
}

// assertionText returns the message of an assertion.
func assertionText(op *stablehlo.Op) (string, error) {
	for _, a := range []stablehlo.Attr{op.Attr("error_message"), dict(op, "mhlo.attributes", "error_message")} {
		if s, ok := a.(stablehlo.String); ok {
			return string(s), nil
		}
	}
	return "", refused(op, "an assertion must have an attribute error_message")
}

// mark stands for a value in a message.
const mark = "\x00"

// marked returns a message with marks in the places of "{0}", "{1}", …, and the values
// to put there.
func marked(message string, values []tf.Output) (string, []tf.Output) {
	parts := strings.Split(message, "{")
	out, chosen := parts[0], []tf.Output(nil)
	for _, part := range parts[1:] {
		number, rest, ok := strings.Cut(part, "}")
		i, err := strconv.Atoi(number)
		if !ok || err != nil || i < 0 || i >= len(values) {
			out += "{" + part
			continue
		}
		out += mark + rest
		chosen = append(chosen, values[i])
	}
	return out, chosen
}
