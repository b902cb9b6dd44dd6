package data_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// byRest makes the remainder of an element modulo n its class.
func byRest(n int64) func(in []*tf.Tensor) (int, error) {
	return func(in []*tf.Tensor) (int, error) { return int(tf.Data[int64](in[0])[0] % n), nil }
}

// everyFourth makes each fourth number class 1, others class 0.
func everyFourth(in []*tf.Tensor) (int, error) {
	if tf.Data[int64](in[0])[0]%4 == 0 {
		return 1, nil
	}
	return 0, nil
}

// TestRejectionResample compares with what TensorFlow 2.21 gives after
// tf.random.set_seed(5), for the seed 9. Elements are class:number. The case "never" is that of the seeds 7 and 1.
func TestRejectionResample(t *testing.T) {
	rest73 := func(in []*tf.Tensor) (int, error) { return int(tf.Data[int64](in[0])[0] % 7 % 3), nil }
	oneOrTwo := func(in []*tf.Tensor) (int, error) { return int(1 + tf.Data[int64](in[0])[0]%2), nil }
	const given = "1:0 1:0 0:1 0:2 0:3 1:4 1:4 0:5 1:8 0:6 0:7 1:12 1:8 0:9 1:16 0:10 0:11 1:12 0:13 1:20 0:14 0:15 1:16 1:24 0:17 1:28 0:18 0:19 1:20 0:21 1:32 0:22 0:23 1:24 0:25 0:26 0:27 1:36 1:28 0:29"
	thirds := []float64{1. / 3, 1. / 3, 1. / 3}
	for name, c := range map[string]struct {
		n               int64
		class           func(in []*tf.Tensor) (int, error)
		target, initial []float64
		repeat          int64
		want            string
	}{
		"given":     {40, everyFourth, []float64{0.5, 0.5}, []float64{0.75, 0.25}, 1, given},
		"twice":     {40, everyFourth, []float64{0.5, 0.5}, []float64{0.75, 0.25}, 2, given + " " + given},
		"same":      {40, everyFourth, []float64{0.25, 0.75}, []float64{0.25, 0.75}, 1, "1:0 0:1 0:2 0:3 1:4 0:5 0:6 0:7 1:8 0:9 0:10 0:11 1:12 0:13 0:14 0:15 1:16 0:17 0:18 0:19 1:20 0:21 0:22 0:23 1:24 0:25 0:26 0:27 1:28 0:29 0:30 0:31 1:32 0:33 0:34 0:35 1:36 0:37 0:38 0:39"},
		"none of 0": {60, byRest(3), []float64{0, 0.5, 0.5}, thirds, 1, "1:1 2:2 1:4 2:5 1:7 2:8 1:10 2:11 1:13 2:14 1:16 2:17 1:19 2:20 1:22 2:23 1:25 2:26 1:28 2:29 1:31 2:32 1:34 2:35 1:37 2:38 1:40 2:41 1:43 2:44 1:46 2:47 1:49 2:50 1:52 2:53 1:55 2:56 1:58 2:59"},
		"never":     {40, oneOrTwo, []float64{0.5, 0.25, 0.25}, []float64{0, 0.5, 0.5}, 1, "1:0"},
		"estimated": {100, rest73, []float64{0.5, 0.25, 0.25}, nil, 1, "0:0 0:0 1:1 2:2 0:3 1:4 2:5 0:6 0:3 0:7 1:8 0:6 2:9 0:10 1:11 2:12 0:13 0:14 1:15 0:7 2:16 0:17 1:18 0:10 2:19 0:13 0:20 0:21 1:22 2:23 0:14 0:24 1:25 2:26 0:27 0:28 1:29 2:30 0:31 1:32 0:17 2:33 0:34 0:35 1:36 2:37 0:38 1:39 2:40 0:41 0:42 1:43 2:44 0:45 1:46 2:47 0:20 0:48 0:49 1:50 2:51 0:52 1:53 2:54 0:55 0:56 1:57 0:21 2:58 0:59 1:60 2:61 0:62 0:63 0:24 0:27 1:64 2:65 0:28 0:66 1:67 2:68 0:69 0:70 1:71 2:72 0:73 1:74 0:31 2:75 0:76 0:77 1:78 0:34 2:79 0:80 1:81 2:82 0:83 0:84 1:85 2:86 0:35 0:87 1:88 2:89 0:90 0:91 1:92 2:93 0:94 1:95 0:38 0:41 2:96 0:97 0:98 1:99 0:42"},
	} {
		o := data.ResampleOptions{Initial: c.initial, Seed: 5, Seed2: 9}
		if name == "never" {
			o.Seed, o.Seed2 = 7, 1
		}
		d := data.Range(0, c.n).RejectionResample(c.class, c.target, o).Repeat(c.repeat)
		if got := strings.ReplaceAll(joined(t, d), ";", ":"); got != c.want {
			t.Errorf("%s: got\n%s, want\n%s", name, got, c.want)
		}
	}
}

// TestResamplesReachTheirTarget counts classes, without seeds.
func TestResamplesReachTheirTarget(t *testing.T) {
	const n = 20000
	target := []float64{0.2, 0.5, 0.3}
	skewed := func(in []*tf.Tensor) (int, error) { return max(0, int(tf.Data[int64](in[0])[0]*7919%10)-7), nil } // 0.8, 0.1, 0.1
	for name, initial := range map[string][]float64{"given": {0.8, 0.1, 0.1}, "estimated": nil} {
		var counts [3]float64
		all := 0.0
		for e, err := range data.Range(0, n).RejectionResample(skewed, target, data.ResampleOptions{Initial: initial}).All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			counts[tf.Data[int32](e[0])[0]]++
			all++
		}
		for i, want := range target {
			if got := counts[i] / all; math.Abs(got-want) > 0.04 {
				t.Errorf("%s: class %d has the share %.3f of %v elements, want %.3f", name, i, got, all, want)
			}
		}
	}
}

func TestWhatCannotBeResampled(t *testing.T) {
	half := []float64{0.5, 0.5}
	for name, d := range map[string]*data.Dataset{
		"no function":      data.Range(0, 9).RejectionResample(nil, half, data.ResampleOptions{}),
		"no target":        data.Range(0, 9).RejectionResample(everyFourth, nil, data.ResampleOptions{}),
		"negative":         data.Range(0, 9).RejectionResample(everyFourth, []float64{2, -1}, data.ResampleOptions{}),
		"not a number":     data.Range(0, 9).RejectionResample(everyFourth, half, data.ResampleOptions{Initial: []float64{math.NaN(), 1}}),
		"few initial":      data.Range(0, 9).RejectionResample(everyFourth, half, data.ResampleOptions{Initial: []float64{1}}),
		"a failed dataset": data.Range(0, 9).Batch(0, false).RejectionResample(everyFourth, half, data.ResampleOptions{}),
	} {
		if err := d.Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, initial := range map[string][]float64{"given": {0.75, 0.25}, "estimated": nil} {
		d := data.Range(0, 50).RejectionResample(byRest(3), half, data.ResampleOptions{Initial: initial, Seed: 1})
		var first error
		for _, err := range d.All(context.Background()) {
			if err != nil && first == nil {
				first = err
			}
		}
		if tf.CodeOf(first) != tf.InvalidArgument || !strings.Contains(first.Error(), "must be in [0, 2), got 2") {
			t.Errorf("%s: a class out of range: %v", name, first)
		}
	}
}
