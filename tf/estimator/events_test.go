package estimator_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/summary"
)

// eventsIn returns the events of a directory's files.
func eventsIn(t *testing.T, dir string) (all []*pb.Event) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*tfevents*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d event files, %v", dir, len(names), err)
	}
	for _, name := range names {
		all = append(all, eventsOf(t, name)...)
	}
	return all
}

func eventsOf(t *testing.T, name string) (all []*pb.Event) {
	r, err := record.Open(name, record.None)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		text, err := r.Next()
		if err == io.EOF {
			return all
		}
		e := &pb.Event{}
		if err == nil {
			err = proto.Unmarshal(text, e)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

// TestBestOfEvaluations: what hooks write beside evaluations is none of them.
func TestBestOfEvaluations(t *testing.T) {
	e := here(t)
	w, err := summary.NewFileWriter(e.EvalDir(""))
	if err != nil {
		t.Fatal(err)
	}
	text, err := proto.Marshal(&pb.Summary{Value: []*pb.Summary_Value{{Tag: "pictures", Value: &pb.Summary_Value_SimpleValue{SimpleValue: 3}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Summary(1, string(text)), w.Close()); err != nil {
		t.Fatal(err)
	}
	best := &estimator.BestExporter{Receive: serveX}
	o := estimator.TrainSpec{Input: points(5), MaxSteps: 5}
	if _, err := estimator.TrainAndEvaluate(t.Context(), e, o, estimator.EvalSpec{Input: points(1), Exporters: []estimator.Exporter{best}}); err != nil {
		t.Fatal(err)
	}
	if n := exported(t, e, best.Name()); n != 1 {
		t.Errorf("%d exports, want one", n)
	}
}
