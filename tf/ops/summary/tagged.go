package summary

import (
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Summaries is the collection of the summaries that the functions below add, all
// of which [MergeAll] merges.
const Summaries = "summaries"

var notInTags = regexp.MustCompile(`[^-/.\w]`)

// clean returns a name without what names of nodes cannot have, as TensorFlow has it.
func clean(name string) string {
	return strings.TrimLeft(notInTags.ReplaceAllString(name, "_"), "/")
}

// tagged adds a summary under a tag, which is name within the scopes in force: the
// name of the summary's node too.
func tagged(name string, x tf.Output, add func(tag tf.Output, node tf.Option) tf.Output) (s tf.Output) {
	g := x.Graph()
	if g == nil {
		return tf.Failed(nil, name, x.Err()).Output(0)
	}
	if x.Err() != nil {
		return x
	}
	if clean(name) == "" {
		return tf.Failed(g, "Summary", tf.Errorf(tf.InvalidArgument, "a summary must have a name, got %q", name)).Output(0)
	}
	name = clean(name)
	g.Scope(name, func() {
		scope := g.CurrentScope()
		if scope == "" { // an eager graph has no names
			scope = name + "/"
		}
		full := scope[:len(scope)-1]
		s = add(text(g, full), tf.Name(scope))
	})
	if s.Err() == nil && !g.IsEager() {
		g.AddToCollection(Summaries, s)
	}
	return s
}

// text adds a string scalar.
func text(g *tf.Graph, v string) tf.Output {
	t := tf.Scalar(v)
	return tf.Apply(g, "Const", nil, tf.Attr("value", t), tf.Attr("dtype", tf.String), tf.Name("tags")).Output(0)
}

// Scalar adds a summary of a number to the graph's summaries:
// tf.summary.scalar. Characters of the name that tags cannot have become
// underscores, here and in the functions below. x is a scalar and the result a scalar string. Another
// shape is refused with INVALID_ARGUMENT in the step.
func Scalar(name string, x tf.Output) tf.Output {
	return tagged(name, x, func(tag tf.Output, node tf.Option) tf.Output { return ScalarSummary(tag, x, node) })
}

// Histogram adds a summary of how the elements of x are distributed to the
// graph's summaries: tf.summary.histogram. Values that are NaN or infinite are
// refused with INVALID_ARGUMENT in the step.
func Histogram(name string, x tf.Output) tf.Output {
	return tagged(name, x, func(tag tf.Output, node tf.Option) tf.Output { return HistogramSummary(tag, x, node) })
}

// Image adds a summary of images, a tensor of shape [n,height,width,channels],
// to the graph's summaries: tf.summary.image. At most most of them are shown,
// 3 if that is 0. Errors are those of [ImageSummary].
func Image(name string, x tf.Output, most int) tf.Output {
	if most == 0 {
		most = 3
	}
	return tagged(name, x, func(tag tf.Output, node tf.Option) tf.Output {
		return ImageSummary(tag, x, node, tf.Attr("max_images", most))
	})
}

// Audio adds a summary of sounds, a tensor of shape [n,frames,channels] or
// [n,frames], to the graph's summaries: tf.summary.audio. rate is in samples a
// second. At most most of them are kept, 3 if that is 0. Errors are those of
// [AudioSummaryV2].
func Audio(name string, x tf.Output, rate float32, most int) tf.Output {
	if most == 0 {
		most = 3
	}
	return tagged(name, x, func(tag tf.Output, node tf.Option) tf.Output {
		r := tf.Apply(x.Graph(), "Const", nil, tf.Attr("value", tf.Scalar(rate)), tf.Attr("dtype", tf.Float32)).Output(0)
		return AudioSummaryV2(tag, x, r, node, tf.Attr("max_outputs", most))
	})
}

// Tensor adds a summary of a whole tensor to the graph's summaries:
// tf.summary.tensor_summary. x may have any type and shape; none is refused.
func Tensor(name string, x tf.Output) tf.Output { return plugged(name, x, "", "", nil) }

// Text adds a summary of texts, strings in a tensor of any shape, to the
// graph's summaries: tf.summary.text. TensorBoard takes them as Markdown.
// Another type is refused with INVALID_ARGUMENT when the graph is built.
func Text(name string, x tf.Output) tf.Output {
	if x.Err() == nil && x.DType() != tf.String {
		return tf.Failed(x.Graph(), name, tf.Errorf(tf.InvalidArgument, "Expected tensor %s to have dtype string, got %v", x.Name(), x.DType())).Output(0)
	}
	return plugged(name, x, "", "text", nil)
}

// plugged adds a summary of a tensor that a plugin of TensorBoard shows, under the
// display name if there is one.
func plugged(name string, x tf.Output, display, plugin string, content []byte) tf.Output {
	m := &pb.SummaryMetadata{DisplayName: display}
	if plugin != "" {
		m.PluginData = &pb.SummaryMetadata_PluginData{PluginName: plugin, Content: content}
	}
	b, err := proto.Marshal(m)
	if err != nil {
		return tf.Failed(x.Graph(), name, err).Output(0)
	}
	return tagged(name, x, func(tag tf.Output, node tf.Option) tf.Output {
		metadata := tf.Apply(x.Graph(), "Const", nil, tf.Attr("value", tf.Scalar(string(b))), tf.Attr("dtype", tf.String), tf.Name("serialized_summary_metadata")).Output(0)
		return TensorSummaryV2(tag, x, metadata, node)
	})
}

// PRCurve adds a summary of precision and recall to the graph's summaries:
// labels are bools, predictions numbers from 0 to 1 of the same shape, and
// thresholds is how many points the curve has, 201 if it is 0. A single
// threshold, or a negative number of them, is refused with INVALID_ARGUMENT
// when the graph is built.
func PRCurve(name string, labels, predictions tf.Output, thresholds int) tf.Output {
	for _, x := range []tf.Output{labels, predictions} {
		if x.Err() != nil {
			return x
		}
	}
	if thresholds == 0 {
		thresholds = 201
	}
	if thresholds < 2 {
		return tf.Failed(labels.Graph(), name, tf.Errorf(tf.InvalidArgument, "a curve needs two thresholds at least, got %d", thresholds)).Output(0)
	}
	display, name := name, clean(name)
	var curve tf.Output
	labels.Graph().Scope(name+"_counts", func() { curve = precisionRecall(labels, predictions, thresholds) })
	return plugged(name+"/pr_curves", curve, display, "pr_curves", protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), uint64(thresholds)))
}

// precisionRecall returns six rows for as many thresholds: true positives, false
// positives, true negatives, false negatives, precision, recall.
func precisionRecall(labels, predictions tf.Output, n int) tf.Output {
	g := labels.Graph()
	limits := make([]float32, n)
	for i := range limits {
		limits[i] = float32(float64(i) / float64(n-1))
	}
	t, err := tf.FromSlice(limits, n, 1)
	if err != nil {
		return tf.Failed(g, "thresholds", err).Output(0)
	}
	at := tf.Apply(g, "Const", nil, tf.Attr("value", t), tf.Attr("dtype", tf.Float32)).Output(0)
	above := predictions.Cast(tf.Float32).Reshape(1, -1).GreaterEqual(at).Cast(tf.Float32)
	yes := labels.Cast(tf.Bool).Cast(tf.Float32).Reshape(1, -1)
	no, below := yes.Neg().Add(float32(1)), above.Neg().Add(float32(1))
	count := func(a, b tf.Output) tf.Output { return a.Mul(b).Sum(1) }
	tp, fp, tn, fn := count(above, yes), count(above, no), count(below, no), count(below, yes)
	const least = float32(1e-7)
	precision := tp.Div(tp.Add(fp).Maximum(least))
	recall := tp.Div(tp.Add(fn).Maximum(least))
	return tf.Apply(nil, "Pack", []tf.Output{tp, fp, tn, fn, precision, recall}).Output(0)
}

// MergeAll returns a summary of all summaries of the graph's collection; none
// if it is empty. Errors are those of [MergeSummary].
func MergeAll(g *tf.Graph) (x tf.Output) {
	var all []tf.Output
	for _, s := range g.Collection(Summaries) {
		if s, ok := s.(tf.Output); ok {
			all = append(all, s)
		}
	}
	if len(all) > 0 {
		g.Scope("", func() { x = MergeSummary(all, tf.Name("Merge/MergeSummary")) })
	}
	return x
}
