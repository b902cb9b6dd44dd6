package estimator_test

import (
	"io"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/record"
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
