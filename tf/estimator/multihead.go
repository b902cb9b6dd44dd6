package estimator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// A MultiHead is several heads for one model, each with logits and a label of its
// own: TensorFlow's tf.estimator.MultiHead. Labels are those of the heads' names.
// Predictions and signatures are NAME/KEY, metrics KEY/NAME; the default signature
// is that of the first head.
type MultiHead struct {
	heads   []*Head
	weights []float32
}

// NewMultiHead returns heads together, each of which must have a name of its own.
// The loss is the sum of their losses, multiplied by weights if there are any.
func NewMultiHead(heads []*Head, weights ...float32) (*MultiHead, error) {
	if len(heads) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Must specify heads. Given: none")
	}
	if len(weights) > 0 && len(weights) != len(heads) {
		return nil, tf.Errorf(tf.InvalidArgument, "heads and head_weights must have the same size. Given len(heads): %d. Given len(head_weights): %d.", len(heads), len(weights))
	}
	seen := map[string]bool{}
	for _, h := range heads {
		switch {
		case h == nil || h.o.Name == "":
			return nil, tf.Errorf(tf.InvalidArgument, "All given heads must have name specified.")
		case seen[h.o.Name]:
			return nil, tf.Errorf(tf.InvalidArgument, "the names of heads must differ, got %s twice", h.o.Name)
		case h.o.reduction() != heads[0].o.reduction():
			return nil, tf.Errorf(tf.InvalidArgument, "The loss_reduction must be the same for different heads. Given: %v and %v", heads[0].o.reduction(), h.o.reduction())
		}
		seen[h.o.Name] = true
	}
	return &MultiHead{slices.Clone(heads), slices.Clone(weights)}, nil
}

// LogitsSize is how many numbers a model must compute for each example: those of
// all heads.
func (m *MultiHead) LogitsSize() (n int) {
	for _, h := range m.heads {
		n += h.LogitsSize()
	}
	return n
}

func (m *MultiHead) name() string {
	var names []string
	for _, h := range m.heads {
		names = append(names, h.o.Name)
	}
	return strings.Join(names, "_")
}

// Spec returns the Spec of a model whose logits, float32 [batch LogitsSize], are
// those of the heads side by side. See [Head.Spec].
func (m *MultiHead) Spec(c *Call, logits tf.Output, minimize func(loss tf.Output) *tf.Operation) (*Spec, error) {
	if err := logits.Err(); err != nil {
		return nil, err
	}
	var sizes []int
	for _, h := range m.heads {
		sizes = append(sizes, h.LogitsSize())
	}
	if s := logits.Shape(); len(s) < 2 || s[len(s)-1] != m.LogitsSize() {
		return nil, tf.Errorf(tf.InvalidArgument, "Could not split logits of shape %v among the heads with individual logits dimensions: %v. The last dimension of the logits tensor should equal %d.", logits.Shape(), sizes, m.LogitsSize())
	}
	parts := map[string]tf.Output{}
	for i, x := range ops.SplitV(logits, sizes, len(logits.Shape())-1, len(sizes)) {
		parts[m.heads[i].o.Name] = x
	}
	return m.SpecOf(c, parts, minimize)
}

// SpecOf is Spec of logits by the names of the heads.
func (m *MultiHead) SpecOf(c *Call, logits map[string]tf.Output, minimize func(loss tf.Output) *tf.Operation) (s *Spec, err error) {
	for _, h := range m.heads {
		x, ok := logits[h.o.Name]
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "logits has missing values for head(s): %s", h.o.Name)
		}
		if err := h.accept(c, x); err != nil {
			return nil, fmt.Errorf("head %s: %w", h.o.Name, err)
		}
	}
	for _, h := range m.heads {
		if _, ok := c.Labels[h.o.Name]; !ok && c.Mode != Predict {
			return nil, tf.Errorf(tf.InvalidArgument, "labels has missing values for head(s): %s. Given: %q", h.o.Name, slices.Sorted(maps.Keys(c.Labels)))
		}
	}
	c.Graph.Scope(m.name(), func() { s, err = m.spec(c, logits, minimize) })
	return s, err
}

func (m *MultiHead) spec(c *Call, logits map[string]tf.Output, minimize func(loss tf.Output) *tf.Operation) (*Spec, error) {
	s := &Spec{Mode: c.Mode, Predictions: map[string]tf.Output{}, ExportOutputs: map[string]ExportOutput{}}
	merged := &merging{m: m, c: c, s: s, served: map[string]tf.Output{}}
	for i, h := range m.heads {
		var err error
		c.Graph.Scope(h.o.Name, func() { err = merged.add(i, logits[h.o.Name]) })
		if err != nil {
			return nil, err
		}
	}
	s.ExportOutputs["predict"] = PredictOutput{merged.served}
	if c.Mode == Predict {
		return s, nil
	}
	return s, merged.finish(minimize)
}

// merging makes one Spec of those of several heads.
type merging struct {
	m       *MultiHead
	c       *Call
	s       *Spec
	served  map[string]tf.Output // what the signature "predict" returns
	parts   []evaluated
	losses  []tf.Output // of the heads
	weighed []tf.Output // the same by their weights
}

// add takes head i.
func (g *merging) add(i int, logits tf.Output) error {
	h := g.m.heads[i]
	predictions, exports := h.predictions(h, logits)
	g.export(h.o.Name, i == 0, exports)
	for key, x := range predictions {
		g.s.Predictions[h.o.Name+"/"+key] = x
	}
	if g.c.Mode == Predict {
		return nil
	}
	label, err := h.dense(g.c.Labels[h.o.Name])
	if err != nil {
		return fmt.Errorf("head %s: %w", h.o.Name, err)
	}
	e, err := h.evaluated(g.c.Features, label, logits)
	if err != nil {
		return err
	}
	e.predictions = h.flatPredictions(predictions, logits)
	loss, _ := h.total(e)
	g.parts, g.losses = append(g.parts, e), append(g.losses, loss)
	if len(g.m.weights) > 0 {
		loss = loss.Mul(g.m.weights[i])
	}
	g.weighed = append(g.weighed, loss)
	return loss.Err()
}

// export takes the signatures of a head.
func (g *merging) export(name string, isFirst bool, exports map[string]ExportOutput) {
	for key, o := range exports {
		if key != savedmodel.DefaultSignature {
			g.s.ExportOutputs[name+"/"+key] = o
		} else if g.s.ExportOutputs[name] = o; isFirst {
			g.s.ExportOutputs[key] = o
		}
		if p, ok := o.(PredictOutput); ok && key == "predict" {
			for k, x := range p.Outputs {
				g.served[name+"/"+k] = x
			}
		}
	}
}

// finish adds the loss and what only training or only evaluation has.
func (g *merging) finish(minimize func(loss tf.Output) *tf.Operation) error {
	extra := losses.RegularizationLosses(g.c.Graph)
	g.s.Loss = ops.AddN(append(slices.Clone(g.weighed), extra...))
	if err := g.s.Loss.Err(); err != nil {
		return err
	}
	if g.c.Mode == Eval {
		g.c.Graph.Scope("metrics", func() { g.s.EvalMetrics = g.metrics(extra) })
		return g.c.Graph.Err()
	}
	if minimize == nil {
		return tf.Errorf(tf.InvalidArgument, "a head must be told how to train: minimize is nil")
	}
	g.s.TrainOp = minimize(g.s.Loss)
	g.c.Graph.Scope("", func() {
		for i, h := range g.m.heads {
			summary.Scalar(h.key(LossKey), g.losses[i])
		}
		summary.Scalar(LossKey, g.s.Loss)
		if len(extra) > 0 {
			summary.Scalar("regularization_loss", ops.AddN(extra))
		}
	})
	return g.c.Graph.Err()
}

func (g *merging) metrics(extra []tf.Output) map[string]Metric {
	out := map[string]Metric{}
	for i, h := range g.m.heads {
		for key, m := range h.metrics(h, g.parts[i]) {
			out[h.key(key)] = m
		}
		out[h.key(LossKey)] = MetricOf(metrics.Mean(g.losses[i]))
	}
	if len(extra) > 0 {
		out["regularization_loss/"+g.m.name()] = MetricOf(metrics.Mean(ops.AddN(extra)))
	}
	return out
}
