package data_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestIgnoreErrors: an element that cannot be computed is left out.
func TestIgnoreErrors(t *testing.T) {
	for _, op := range []string{"IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset"} {
		g := tf.NewGraph()
		p := numbers(g, 5).mapped("divide", nil, func(x []tf.Output) []tf.Output {
			return []tf.Output{ops.FloorDiv(ops.Scalar(g, int64(12)), ops.Sub(x[0], ops.Scalar(g, int64(2))))}
		})
		if got, err := run(t, p.then(op, nil)); err != nil || got != "[-6 -12 12 6]" {
			t.Errorf("%s: %s (%v)", op, got, err)
		}
		if got, err := run(t, p); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("without %s: %s (%v)", op, got, err)
		}
	}
}

// TestAssertNext: a dataset that comes after others than was said is an error.
func TestAssertNext(t *testing.T) {
	for _, op := range []string{"AssertNextDataset", "ExperimentalAssertNextDataset"} {
		for names, want := range map[string]string{"FiniteTake": "", "Skip": "Asserted transformation matching Skip at offset 0 but encountered FiniteTake transformation instead."} {
			g := tf.NewGraph()
			p := numbers(g, 3).then(op, []tf.Output{ops.Const(g, strings.Fields(names))}).then("TakeDataset", ints(g, 2))
			got, err := run(t, p)
			if want == "" && (err != nil || got != "[0 1]") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s of %s: %s (%v)", op, names, got, err)
			}
		}
	}
}

// TestPassedOn: what a dataset is computed with, or measured by, does not change what
// comes.
func TestPassedOn(t *testing.T) {
	for op, maker := range map[string]string{
		"ThreadPoolDataset": "ThreadPoolHandle", "ExperimentalThreadPoolDataset": "ExperimentalThreadPoolHandle",
	} {
		g := tf.NewGraph()
		h := tf.Apply(g, maker, nil, tf.Attr("num_threads", 2), tf.Attr("display_name", "pool")).Output(0)
		if got, err := run(t, numbers(g, 3).then(op, []tf.Output{h})); err != nil || got != "[0 1 2]" {
			t.Errorf("%s: %s (%v)", op, got, err)
		}
	}
	for op, maker := range map[string]string{
		"SetStatsAggregatorDataset": "StatsAggregatorHandle", "ExperimentalSetStatsAggregatorDataset": "ExperimentalStatsAggregatorHandle",
	} {
		g := tf.NewGraph()
		h := tf.Apply(g, maker, nil).Output(0)
		more := []tf.Output{h, ops.Scalar(g, "tag"), ops.Scalar(g, "prefix")}
		if got, err := run(t, numbers(g, 3).then(op, more)); err != nil || got != "[0 1 2]" {
			t.Errorf("%s: %s (%v)", op, got, err)
		}
	}
}

// run returns the elements of p, or the error of one that cannot be computed.
func run(t *testing.T, p pipe) (string, error) {
	t.Helper()
	s, err := session.New(p.d.Graph())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, p.all()[0])
	if err != nil {
		return "", err
	}
	return fmt.Sprint(tf.Data[int64](out[0])), nil
}
