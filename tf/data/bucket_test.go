package data_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// repeated has a vector of n numbers n for each length n.
func repeated(lengths ...int64) *data.Dataset {
	l, _ := tf.FromSlice(lengths)
	return data.FromTensorSlices(l).Map(func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		v := make([]int64, tf.Data[int64](in[0])[0])
		for i := range v {
			v[i] = int64(len(v))
		}
		x, err := tf.FromSlice(v, len(v))
		return []*tf.Tensor{x}, err
	}, ints, []tf.Shape{{-1}})
}

func lengthOf(in []*tf.Tensor) (int, error) { return in[0].Len(), nil }

// rowsOf prints the rows of batches as lists.
func rowsOf(t *testing.T, d *data.Dataset) string {
	t.Helper()
	var b strings.Builder
	for e, err := range d.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		v, n := tf.Data[int64](e[0]), e[0].Dim(1)
		for i := range e[0].Dim(0) {
			fmt.Fprint(&b, v[i*n:(i+1)*n])
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// TestBucketByLength compares with tf.data's bucket_by_sequence_length.
func TestBucketByLength(t *testing.T) {
	all := repeated(3, 1, 7, 2, 9, 4, 1, 12, 5, 3)
	short := repeated(3, 1, 2, 4, 1, 5, 3)
	minus := []*tf.Tensor{tf.Scalar[int64](-1)}
	full := "[1 0][2 2] [7 7 7 7 7 7 7 0 0][9 9 9 9 9 9 9 9 9] [3 3 3 0][4 4 4 4] [5 5 5 5 5][3 3 3 0 0]"
	for _, c := range []struct {
		d    *data.Dataset
		o    data.BucketOptions
		want string
	}{
		{all, data.BucketOptions{}, full + " [1] [12 12 12 12 12 12 12 12 12 12 12 12]"},
		{all, data.BucketOptions{DropRemainder: true}, full},
		{short, data.BucketOptions{PadToBoundary: true, Padding: minus}, "[1 -1][2 2] [3 3 3 -1 -1][4 4 4 4 -1] [5 5 5 5 5][3 3 3 -1 -1] [1 -1]"},
		{repeated(2, 4, 2, 4), data.BucketOptions{NoPadding: true}, "[2 2][2 2] [4 4 4 4][4 4 4 4]"},
	} {
		d := c.d.BucketByLength(lengthOf, []int{3, 6}, []int{2, 2, 2}, c.o)
		if got := rowsOf(t, d); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.o, got, c.want)
		}
		if s := d.Shapes(); len(s) != 1 || !s[0].Equal(tf.Shape{-1, -1}) {
			t.Error(s)
		}
	}
}

// TestBucketsLoseNothing compares random lengths, boundaries and sizes with a plain
// sorting into buckets.
func TestBucketsLoseNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var bounds, sizes []int
		for at, n := 0, r.IntN(4); len(bounds) < n; {
			at += 1 + r.IntN(5)
			bounds = append(bounds, at)
		}
		for range len(bounds) + 1 {
			sizes = append(sizes, 1+r.IntN(3))
		}
		lengths := make([]int64, r.IntN(30))
		for i := range lengths {
			lengths[i] = 1 + r.Int64N(20)
		}
		d := repeated(lengths...).BucketByLength(lengthOf, bounds, sizes, data.BucketOptions{})
		if got, want := rowsOf(t, d), bucketed(lengths, bounds, sizes); got != want {
			t.Fatalf("%v %v %v: got %s, want %s", lengths, bounds, sizes, got, want)
		}
	}
}

func bucketed(lengths []int64, bounds, sizes []int) string {
	var out []string
	var order []int
	open := map[int][]int64{}
	emit := func(k int) {
		longest, text := int64(0), ""
		for _, n := range open[k] {
			longest = max(longest, n)
		}
		for _, n := range open[k] {
			row := make([]int64, longest)
			for i := range n {
				row[i] = n
			}
			text += fmt.Sprint(row)
		}
		out, open[k] = append(out, text), nil
	}
	for _, n := range lengths {
		k := 0
		for k < len(bounds) && int(n) >= bounds[k] {
			k++
		}
		if open[k] = append(open[k], n); len(open[k]) == sizes[k] {
			emit(k)
		}
	}
	for k := range sizes {
		order = append(order, k)
	}
	for _, k := range order {
		if len(open[k]) > 0 {
			emit(k)
		}
	}
	return strings.Join(out, " ")
}

func TestWhatHasNoBuckets(t *testing.T) {
	some := repeated(1, 9)
	vague := some.Map(func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { return in, nil }, ints, nil)
	for name, d := range map[string]*data.Dataset{
		"no function":  some.BucketByLength(nil, nil, []int{1}, data.BucketOptions{}),
		"few sizes":    some.BucketByLength(lengthOf, []int{3}, []int{1}, data.BucketOptions{}),
		"falling":      some.BucketByLength(lengthOf, []int{3, 3}, []int{1, 1, 1}, data.BucketOptions{}),
		"size 0":       some.BucketByLength(lengthOf, nil, []int{0}, data.BucketOptions{}),
		"unknown rank": vague.BucketByLength(lengthOf, nil, []int{1}, data.BucketOptions{}),
	} {
		if err := d.Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	errs := 0
	for _, err := range some.BucketByLength(lengthOf, []int{3}, []int{1, 1}, data.BucketOptions{PadToBoundary: true}).All(t.Context()) {
		if err != nil {
			errs++
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "below the last boundary") {
				t.Error(err)
			}
		}
	}
	if errs != 1 {
		t.Errorf("got %d errors for one long element", errs)
	}
}

// TestPaddingByDefault pads to the elements' shapes with zeros and empty strings.
func TestPaddingByDefault(t *testing.T) {
	if got := rowsOf(t, repeated(2, 3).PaddedBatch(2, nil, nil, false)); got != "[2 2 0][3 3 3]" {
		t.Error(got)
	}
}
