package ops

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "StringFormat", In: "inputs: T", Out: "output: string",
		Attrs: "T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3",
		Shape: stringFormatShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(stringFormat),
	})
}

// StringFormatOpts are the optional attributes of StringFormat: what stands in
// the template for a tensor, "%s" if empty, and how many elements at both ends
// of each dimension are shown, 3 if 0 and all if negative.
type StringFormatOpts struct {
	Placeholder string
	Summarize   int
}

// Apply sets the attributes.
func (o StringFormatOpts) Apply(s *tf.Spec) {
	if o.Placeholder != "" {
		s.Set("placeholder", o.Placeholder)
	}
	if o.Summarize != 0 {
		s.Set("summarize", o.Summarize)
	}
}

// StringFormat returns the template with its placeholders replaced by the text
// of the tensors xs. The tensors have any types and shapes, and the result is
// a scalar; strings are quoted, and of long dimensions only both ends are
// shown. Another number of placeholders than of tensors is refused with
// INVALID_ARGUMENT when the graph is built.
// Its options are [StringFormatOpts].
func StringFormat(g *tf.Graph, template string, xs []tf.Output, opts ...tf.Option) tf.Output {
	types := make([]tf.DType, len(xs))
	for i, x := range xs {
		types[i] = x.DType()
	}
	return tf.Apply(g, "StringFormat", xs, tf.Join(opts, tf.Attr("template", template), tf.Attr("T", types))...).Output(0)
}

func stringFormatShape(c *core.Infer) error {
	c.Set(0, tf.Shape{})
	_, err := templateParts(c.Node)
	return err
}

// templateParts returns what is around the placeholders of the template.
func templateParts(n *core.Node) ([]string, error) {
	parts := strings.Split(n.Str("template"), n.Str("placeholder"))
	if len(parts)-1 != len(n.InTypes) {
		return nil, tf.Errorf(tf.InvalidArgument, "num placeholders in template and num inputs must match: %d vs. %d", len(parts)-1, len(n.InTypes))
	}
	return parts, nil
}

func stringFormat(n *core.Node) (core.Kernel, error) {
	most := n.Int("summarize")
	parts, err := templateParts(n)
	return core.Compute(func(c *core.OpContext) error {
		if err != nil {
			return err
		}
		text := parts[0]
		for i, p := range parts[1:] {
			text += summarizeEnds(c.Input(i), most) + p
		}
		c.Set(0, core.Scalar(text))
		return nil
	}), nil
}
