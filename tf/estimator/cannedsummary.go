package estimator

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
)

// summarize adds the summaries that TensorFlow has of each layer, in the scope
// that is open: its name is in their tags twice, as in dnn/dnn/logits/activation.
func summarize(x tf.Output, name string) {
	if x.IsZero() || x.Err() != nil {
		return
	}
	summary.Scalar(name+"/fraction_of_zero_values", ops.ZeroFraction(x))
	summary.Histogram(name+"/activation", x)
}

// summarizeLinear adds those of a linear model in the scope that is open: the
// bias, as a number if there is one, and the share of weights that are zero.
func summarizeLinear(logits tf.Output, units int) {
	if logits.Err() != nil {
		return
	}
	var zeros, all []tf.Output
	g := logits.Graph()
	for _, v := range trainable(g, "linear/linear_model/") {
		x := v.Value()
		if strings.Contains(v.Name(), "/bias_weights/") {
			summarizeBias(x, units)
			continue
		}
		all = append(all, ops.Size(x, ops.ShapeOpts{OutType: tf.Int64}).Cast(tf.Float32))
		zeros = append(zeros, x.Equal(ops.ZerosLike(x)).Cast(tf.Float32).Sum())
	}
	summary.Scalar("fraction_of_zero_weights", ops.AddN(zeros).Div(ops.AddN(all)))
}

func summarizeBias(bias tf.Output, units int) {
	if units > 1 {
		summary.Histogram("bias", bias)
		return
	}
	summary.Scalar("bias", bias.Reshape())
}
