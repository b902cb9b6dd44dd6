package summary_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// events reads a file of events.
func events(t *testing.T, name string) (all []*pb.Event) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := record.NewReader(f); ; {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		e := &pb.Event{}
		if err != nil || proto.Unmarshal(b, e) != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

func TestWriter(t *testing.T) {
	w, err := summary.NewWriter(filepath.Join(t.TempDir(), "a", "b"), summary.Opts{Suffix: ".test"})
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := regexp.MatchString(`/events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+\.test$`, w.Name()); !ok {
		t.Error(w.Name())
	}
	if first := events(t, w.Name()); len(first) != 1 || first[0].GetFileVersion() != "brain.Event:2" || first[0].GetSourceMetadata().GetWriter() == "" {
		t.Fatal(first)
	}
	value := &pb.Summary{Value: []*pb.Summary_Value{{Tag: "s", NodeName: "n"}}}
	b, _ := proto.Marshal(value)
	own, _ := proto.Marshal(&pb.Event{Step: 9, WallTime: 2})
	for _, err := range []error{w.Scalar(3, "x", 2.5), w.Summary(4, string(b)), w.Graph(5, []byte("graph")), w.Event(own), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all := events(t, w.Name())[1:]
	if len(all) != 4 {
		t.Fatal(all)
	}
	if v := all[0].GetSummary().GetValue(); len(v) != 1 || v[0].GetTag() != "x" || v[0].GetSimpleValue() != 2.5 || all[0].GetStep() != 3 || all[0].GetWallTime() < 1e9 {
		t.Error(all[0])
	}
	if !proto.Equal(all[1].GetSummary(), value) || all[1].GetStep() != 4 || string(all[2].GetGraphDef()) != "graph" || all[3].GetStep() != 9 || all[3].GetWallTime() != 2 {
		t.Error(all[1:])
	}
	if err := w.Scalar(1, "x", 1); tf.CodeOf(err) != tf.FailedPrecondition || w.Flush() != nil || w.Close() != nil {
		t.Errorf("an event for a closed file: got %v, want FAILED_PRECONDITION", err)
	}
}

func TestQueue(t *testing.T) {
	for _, o := range []summary.Opts{{MaxQueue: 2}, {FlushEvery: time.Nanosecond}} {
		w, err := summary.NewWriter(t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{1, 1, 4, 4}[:4] {
			if o.MaxQueue == 0 {
				want = i + 2
			}
			if err := w.Scalar(int64(i), "x", 1); err != nil {
				t.Fatal(err)
			}
			if got := len(events(t, w.Name())); got != want {
				t.Errorf("%+v: %d events after %d, want %d", o, got, i+1, want)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	w, err := summary.NewWriter(dir, summary.Opts{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	bad := string(protowire.AppendTag(nil, 1, protowire.BytesType)) + "\xff"
	for words, err := range map[string]error{
		"Bad tf.compat.v1.Summary binary proto tensor string": w.Summary(1, bad),
		"Bad tf.Event binary proto tensor string":             w.Event([]byte(bad)),
	} {
		if tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), words) {
			t.Error(err)
		}
	}
	if _, err := summary.NewWriter(w.Name(), summary.Opts{}); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
}
