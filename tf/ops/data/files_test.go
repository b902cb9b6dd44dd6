package data_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/session"
)

// parts writes files of records with numbers.
func parts(t *testing.T, files, each int) (dir string, want []string) {
	t.Helper()
	dir = t.TempDir()
	for f := range files {
		w, err := record.Create(filepath.Join(dir, fmt.Sprint("part", f)), record.None)
		if err != nil {
			t.Fatal(err)
		}
		for i := range each {
			want = append(want, fmt.Sprint(f*each+i))
			if err := w.Write([]byte(want[len(want)-1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sort.Strings(want)
	return dir, want
}

// TestRecordInput: in every epoch each record comes once.
func TestRecordInput(t *testing.T) {
	dir, want := parts(t, 4, 15)
	g := tf.NewGraph()
	attrs := func(pattern string) []tf.Option {
		return []tf.Option{tf.Attr("file_pattern", pattern), tf.Attr("batch_size", 6), tf.Attr("file_buffer_size", 20), tf.Attr("file_shuffle_shift_ratio", float32(0.3))}
	}
	records := tf.Apply(g, "RecordInput", nil, attrs(dir+"/part*")...).Output(0)
	missing := tf.Apply(g, "RecordInput", nil, attrs(dir+"/nothing*")...).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var last []string
	for epoch := range 3 {
		var got []string
		for range len(want) / 6 {
			v, err := s.Run(t.Context(), nil, records)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tf.Data[string](v[0])...)
		}
		if fmt.Sprint(got) == fmt.Sprint(last) {
			t.Errorf("epoch %d has the order of the one before", epoch)
		}
		last = append([]string{}, got...)
		if sort.Strings(got); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("epoch %d has %v", epoch, got)
		}
	}
	if _, err := s.Run(t.Context(), nil, missing); tf.CodeOf(err) != tf.NotFound {
		t.Error(err)
	}
}

// TestRecordInputLosesNothing: records that a step has taken before it fails come in the next one.
func TestRecordInputLosesNothing(t *testing.T) {
	for seed := range 4 { // the damaged file comes elsewhere
		checkRecordInput(t, seed)
	}
}

func checkRecordInput(t *testing.T, seed int) {
	t.Helper()
	dir, want := parts(t, 2, 3)
	if err := os.WriteFile(filepath.Join(dir, "part0damaged"), []byte("no record"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	records := tf.Apply(g, "RecordInput", nil, tf.Attr("file_pattern", dir+"/part*"), tf.Attr("batch_size", 2), tf.Attr("file_buffer_size", 1), tf.Attr("file_random_seed", seed)).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	for len(got) < len(want) {
		v, err := s.Run(t.Context(), nil, records)
		if err == nil {
			got = append(got, tf.Data[string](v[0])...)
		} else if tf.CodeOf(err) != tf.DataLoss {
			t.Fatal(err)
		}
	}
	if sort.Strings(got); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFilesInGraphs reads records from a place on, and keeps elements in files,
// by iterators of a session.
func TestFilesInGraphs(t *testing.T) {
	dir, _ := parts(t, 1, 5)
	g := tf.NewGraph()
	name := ops.Const(g, []string{filepath.Join(dir, "part0")})
	p := pipe{types: []tf.DType{tf.String}, shapes: []tf.Shape{{}}}
	p.d = tf.Apply(nil, "TFRecordDatasetV2", []tf.Output{name, ops.Scalar(g, ""), ops.Scalar(g, int64(0)), ops.Const(g, []int64{2 * 17})}).Output(0)
	p = p.then("CacheDataset", []tf.Output{ops.Scalar(g, filepath.Join(dir, "cache"))}).then("RepeatDataset", ints(g, 2))
	all := p.all()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		v, err := s.Run(t.Context(), nil, all[0])
		if err != nil || fmt.Sprint(tf.Data[string](v[0])) != "[2 3 4 2 3 4]" {
			t.Fatal(v, err)
		}
	}
}
