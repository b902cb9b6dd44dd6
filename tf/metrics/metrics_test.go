package metrics_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// fromTensorFlow is what TensorFlow 2.21 computes of the batches below: the
// value after both, and what the second update returns.
var fromTensorFlow = []struct {
	name          string
	value, update []float32
}{
	{"mean", []float32{0.48749998211860657}, []float32{0.48749998211860657}},
	{"mean weighted", []float32{0.4861111044883728}, []float32{0.4861111044883728}},
	{"mean tensor", []float32{0.4000000059604645, 0.550000011920929, 0.5, 0.2750000059604645, 0.625, 0.574999988079071}, []float32{0.4000000059604645, 0.550000011920929, 0.5, 0.2750000059604645, 0.625, 0.574999988079071}},
	{"mean tensor weighted", []float32{0.4000000059604645, 0.550000011920929, 0.5, 0.2750000059604645, 0.625, 0.574999988079071}, []float32{0.4000000059604645, 0.550000011920929, 0.5, 0.2750000059604645, 0.625, 0.574999988079071}},
	{"accuracy", []float32{0.6666666865348816}, []float32{0.6666666865348816}},
	{"accuracy weighted", []float32{0.6666666865348816}, []float32{0.6666666865348816}},
	{"absolute", []float32{0.30416667461395264}, []float32{0.30416667461395264}},
	{"absolute weighted", []float32{0.3083333373069763}, []float32{0.3083333373069763}},
	{"squared", []float32{0.13979166746139526}, []float32{0.13979166746139526}},
	{"squared weighted", []float32{0.14152778685092926}, []float32{0.14152778685092926}},
	{"root", []float32{0.37388724088668823}, []float32{0.37388724088668823}},
	{"root weighted", []float32{0.3762017786502838}, []float32{0.3762017786502838}},
	{"relative", []float32{0.20000000298023224}, []float32{0.20000000298023224}},
	{"relative weighted", []float32{0.18888889253139496}, []float32{0.18888889253139496}},
	{"cosine", []float32{-0.1499999761581421}, []float32{-0.1499999761581421}},
	{"cosine weighted", []float32{-0.09999990463256836}, []float32{-0.09999990463256836}},
	{"below", []float32{0.5}, []float32{0.5}},
	{"below weighted", []float32{0.5}, []float32{0.5}},
	{"iou", []float32{0.5}, []float32{2.0, 1.0, 0.0, 1.0, 4.0, 0.0, 0.0, 2.0, 2.0}},
	{"iou weighted", []float32{0.5086579918861389}, []float32{2.0, 1.0, 0.0, 0.5, 2.5, 0.0, 0.0, 1.5, 1.5}},
	{"class accuracy", []float32{0.6555555462837219}, []float32{0.6666666865348816, 0.800000011920929, 0.5}},
	{"class accuracy weighted", []float32{0.6666666865348816}, []float32{0.6666666865348816, 0.8333333134651184, 0.5}},
	{"tp", []float32{4.0}, []float32{4.0}},
	{"tp weighted", []float32{3.0}, []float32{3.0}},
	{"tn", []float32{4.0}, []float32{4.0}},
	{"tn weighted", []float32{3.0}, []float32{3.0}},
	{"fp", []float32{1.0}, []float32{1.0}},
	{"fp weighted", []float32{1.0}, []float32{1.0}},
	{"fn", []float32{3.0}, []float32{3.0}},
	{"fn weighted", []float32{2.0}, []float32{2.0}},
	{"precision", []float32{0.800000011920929}, []float32{0.800000011920929}},
	{"precision weighted", []float32{0.75}, []float32{0.75}},
	{"recall", []float32{0.5714285969734192}, []float32{0.5714285969734192}},
	{"recall weighted", []float32{0.6000000238418579}, []float32{0.6000000238418579}},
	{"tp at", []float32{7.0, 4.0, 1.0}, []float32{7.0, 4.0, 1.0}},
	{"tp at weighted", []float32{5.0, 3.0, 0.5}, []float32{5.0, 3.0, 0.5}},
	{"tn at", []float32{3.0, 4.0, 5.0}, []float32{3.0, 4.0, 5.0}},
	{"tn at weighted", []float32{2.5, 3.0, 4.0}, []float32{2.5, 3.0, 4.0}},
	{"fp at", []float32{2.0, 1.0, 0.0}, []float32{2.0, 1.0, 0.0}},
	{"fp at weighted", []float32{1.5, 1.0, 0.0}, []float32{1.5, 1.0, 0.0}},
	{"fn at", []float32{0.0, 3.0, 6.0}, []float32{0.0, 3.0, 6.0}},
	{"fn at weighted", []float32{0.0, 2.0, 4.5}, []float32{0.0, 2.0, 4.5}},
	{"precision at", []float32{0.7777777910232544, 0.800000011920929, 0.9999998807907104}, []float32{0.7777777910232544, 0.800000011920929, 0.9999998807907104}},
	{"precision at weighted", []float32{0.7692307829856873, 0.75, 0.9999997615814209}, []float32{0.7692307829856873, 0.75, 0.9999997615814209}},
	{"recall at", []float32{1.0, 0.5714285969734192, 0.1428571492433548}, []float32{1.0, 0.5714285969734192, 0.1428571492433548}},
	{"recall at weighted", []float32{1.0, 0.6000000238418579, 0.10000000149011612}, []float32{1.0, 0.6000000238418579, 0.10000000149011612}},
	{"auc", []float32{0.9142856001853943}, []float32{0.9142856001853943}},
	{"auc weighted", []float32{0.8999997973442078}, []float32{0.8999997973442078}},
	{"auc pr", []float32{0.9325678944587708}, []float32{0.9325678944587708}},
	{"auc pr weighted", []float32{0.9185603857040405}, []float32{0.9185603857040405}},
	{"auc careful", []float32{0.9328566789627075}, []float32{0.9328566789627075}},
	{"auc careful weighted", []float32{0.9189070463180542}, []float32{0.9189070463180542}},
	{"auc thresholds", []float32{0.8571426868438721}, []float32{0.8571426868438721}},
	{"auc thresholds weighted", []float32{0.8249998092651367}, []float32{0.8249998092651367}},
	{"sensitivity", []float32{1.0}, []float32{1.0}},
	{"sensitivity weighted", []float32{1.0}, []float32{1.0}},
	{"specificity", []float32{1.0}, []float32{1.0}},
	{"specificity weighted", []float32{1.0}, []float32{1.0}},
}

type inputs struct{ p, y, c, d tf.Output }

func newInputs(g *tf.Graph) inputs {
	of := func(d tf.DType) tf.Output { return ops.Placeholder(g, d, tf.Shape{2, 3}) }
	return inputs{of(tf.Float32), of(tf.Float32), of(tf.Int64), of(tf.Int64)}
}

func (in inputs) feeds(t *testing.T) []session.Feeds {
	t.Helper()
	f := func(v ...float32) *tf.Tensor { return tensor(t, v) }
	i := func(v ...int64) *tf.Tensor { return tensor(t, v) }
	return []session.Feeds{
		{in.p: f(.1, .9, .4, .5, .3, .8), in.y: f(0, 1, 1, 1, 0, 1), in.c: i(0, 2, 1, 1, 1, 2), in.d: i(0, 1, 1, 1, 0, 2)},
		{in.p: f(.7, .2, .6, .05, .95, .35), in.y: f(1, 0, 0, 0, 1, 1), in.c: i(2, 0, 0, 1, 2, 1), in.d: i(2, 0, 1, 1, 1, 1)},
	}
}

func tensor[T tf.Elem](t *testing.T, v []T) *tf.Tensor {
	t.Helper()
	x, err := tf.FromSlice(v, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

type metric func(in inputs, o metrics.Options) (value, update tf.Output)

var thresholds = []float32{0.2, 0.5, 0.9}

// rounded makes a metric of rounded predictions.
func rounded(f func(labels, predictions tf.Output, o ...metrics.Options) (tf.Output, tf.Output)) metric {
	return func(in inputs, o metrics.Options) (tf.Output, tf.Output) { return f(in.y, in.p.Round(), o) }
}

func plain(f func(labels, predictions tf.Output, o ...metrics.Options) (tf.Output, tf.Output)) metric {
	return func(in inputs, o metrics.Options) (tf.Output, tf.Output) { return f(in.y, in.p, o) }
}

func at(f func(labels, predictions tf.Output, thresholds []float32, o ...metrics.Options) (tf.Output, tf.Output)) metric {
	return func(in inputs, o metrics.Options) (tf.Output, tf.Output) { return f(in.y, in.p, thresholds, o) }
}

func auc(a metrics.AUCOptions) metric {
	return func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		a.Options = o
		return metrics.AUC(in.y, in.p, a)
	}
}

// each weight repeated for its row: what these metrics ask for
func wide(o metrics.Options) metrics.Options {
	if !o.Weights.IsZero() {
		o.Weights = o.Weights.Mul(ops.Const(o.Weights.Graph(), []float32{1, 1, 1}, 1, 3))
	}
	return o
}

var byName = map[string]metric{
	"mean":        func(in inputs, o metrics.Options) (tf.Output, tf.Output) { return metrics.Mean(in.p, o) },
	"mean tensor": func(in inputs, o metrics.Options) (tf.Output, tf.Output) { return metrics.MeanTensor(in.p, o) },
	"accuracy":    func(in inputs, o metrics.Options) (tf.Output, tf.Output) { return metrics.Accuracy(in.c, in.d, o) },
	"absolute":    plain(metrics.MeanAbsoluteError), "squared": plain(metrics.MeanSquaredError), "root": plain(metrics.RootMeanSquaredError),
	"relative": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.MeanRelativeError(in.y, in.p, in.y, o)
	},
	"cosine": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.MeanCosineDistance(in.y, in.p, 1, o)
	},
	"below": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.PercentageBelow(in.p, 0.45, o)
	},
	"iou": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.MeanIOU(in.c, in.d, 3, wide(o))
	},
	"class accuracy": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.MeanPerClassAccuracy(in.c, in.d, 3, wide(o))
	},
	"tp": rounded(metrics.TruePositives), "tn": rounded(metrics.TrueNegatives), "fp": rounded(metrics.FalsePositives), "fn": rounded(metrics.FalseNegatives),
	"precision": rounded(metrics.Precision), "recall": rounded(metrics.Recall),
	"tp at": at(metrics.TruePositivesAtThresholds), "tn at": at(metrics.TrueNegativesAtThresholds),
	"fp at": at(metrics.FalsePositivesAtThresholds), "fn at": at(metrics.FalseNegativesAtThresholds),
	"precision at": at(metrics.PrecisionAtThresholds), "recall at": at(metrics.RecallAtThresholds),
	"auc": auc(metrics.AUCOptions{}), "auc pr": auc(metrics.AUCOptions{Curve: metrics.PR}),
	"auc careful":    auc(metrics.AUCOptions{Curve: metrics.PR, Careful: true}),
	"auc thresholds": auc(metrics.AUCOptions{Thresholds: []float32{0.5, 0.3}}),
	"sensitivity": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.SensitivityAtSpecificity(in.y, in.p, 0.6, o)
	},
	"specificity": func(in inputs, o metrics.Options) (tf.Output, tf.Output) {
		return metrics.SpecificityAtSensitivity(in.y, in.p, 0.6, o)
	},
}

func TestMetrics(t *testing.T) {
	for _, c := range fromTensorFlow {
		t.Run(c.name, func(t *testing.T) {
			g := tf.NewGraph()
			in := newInputs(g)
			name, weighted := strings.CutSuffix(c.name, " weighted")
			var o metrics.Options
			if weighted {
				o.Weights = ops.Const(g, []float32{1, 0.5}, 2, 1)
			}
			value, update := byName[name](in, o)
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Run(t.Context(), nil, vars.Initialize(g, "init", tf.Variables(g, tf.LocalVariables)...)); err != nil {
				t.Fatal(err)
			}
			var last []*tf.Tensor
			for _, f := range in.feeds(t) {
				if last, err = s.Run(t.Context(), f, update); err != nil {
					t.Fatal(err)
				}
			}
			all, err := s.Run(t.Context(), nil, value)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "value", all[0], c.value)
			compare(t, "update", last[0], c.update)
		})
	}
}

func compare(t *testing.T, what string, x *tf.Tensor, want []float32) {
	t.Helper()
	if x.Len() != len(want) {
		t.Fatalf("%s is %v, TensorFlow's %v", what, x, want)
	}
	for i, w := range want {
		got, _ := x.At(i).(float32)
		if d, ok := x.At(i).(float64); ok {
			got = float32(d)
		}
		if math.Abs(float64(got-w)) > 2e-6 {
			t.Errorf("%s is %v, TensorFlow's %v", what, x, want)
		}
	}
}

// TestVariables: those of metrics are local, so that checkpoints have none.
func TestVariables(t *testing.T) {
	g := tf.NewGraph()
	metrics.Recall(ops.Const(g, []bool{true}), ops.Const(g, []bool{true}))
	if n, m := len(tf.Variables(g, tf.LocalVariables)), len(tf.Variables(g, metrics.Variables)); n != 2 || m != 2 || len(tf.Variables(g, tf.GlobalVariables)) != 0 {
		t.Errorf("%d local variables, %d of metrics", n, m)
	}
}

func TestRefusals(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Const(g, make([]float32, 6), 2, 3), ops.Const(g, make([]float32, 4), 2, 2)
	turned, one := ops.Const(g, make([]float32, 6), 3, 2), ops.Const(g, []float32{0})
	for want, f := range map[string]func() (tf.Output, tf.Output){
		"incompatible":                            func() (tf.Output, tf.Output) { return metrics.Accuracy(x, y) },
		"can not be broadcast":                    func() (tf.Output, tf.Output) { return metrics.Mean(x, metrics.Options{Weights: y}) },
		"must be known":                           func() (tf.Output, tf.Output) { return metrics.MeanTensor(ops.Placeholder(g, tf.Float32, nil)) },
		"Shapes [3,2] and [2,3] are incompatible": func() (tf.Output, tf.Output) { return metrics.MeanIOU(x, turned, 2) },
		"Shapes [1] and [6] are incompatible":     func() (tf.Output, tf.Output) { return metrics.MeanPerClassAccuracy(x, one, 2) },
		"Invalid k=0":                             func() (tf.Output, tf.Output) { return metrics.AveragePrecisionAtK(ops.Const(g, []int64{1, 2}), x, 0) },
		"got -1":                                  func() (tf.Output, tf.Output) { return metrics.MeanIOU(x, x, -1) },
		"got -2":                                  func() (tf.Output, tf.Output) { return metrics.MeanPerClassAccuracy(x, x, -2) },
		"Shapes [2] and [3] are incompatible": func() (tf.Output, tf.Output) {
			return metrics.AUC(ops.Const(g, []float32{0, 1, 1}), ops.Const(g, []float32{0, 1}))
		},
		"Can not squeeze dim[1]": func() (tf.Output, tf.Output) {
			return metrics.AUC(x, ops.Const(g, []float32{0, 1}), metrics.AUCOptions{Curve: metrics.PR, Careful: true})
		},
		"`specificity` must be in the range [0, 1]. Currently, `specificity` is 2.":   func() (tf.Output, tf.Output) { return metrics.SensitivityAtSpecificity(x, x, 2) },
		"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` is NaN.": func() (tf.Output, tf.Output) { return metrics.SpecificityAtSensitivity(x, x, math.NaN()) },
		"eager execution": func() (tf.Output, tf.Output) { return metrics.Mean(ops.Const(eager.New(), []float32{1})) },
	} {
		if _, u := f(); u.Err() == nil || !strings.Contains(u.Err().Error(), want) {
			t.Errorf("%v, want %q", u.Err(), want)
		}
	}
}
