package summary_test

import (
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// tagged returns a summary of a tag with metadata.
func tagged(t *testing.T, tag string) string {
	t.Helper()
	v := &pb.Summary_Value{Tag: tag, Metadata: &pb.SummaryMetadata{DisplayName: tag}, Value: &pb.Summary_Value_SimpleValue{SimpleValue: 1}}
	b, err := proto.Marshal(&pb.Summary{Value: []*pb.Summary_Value{v}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestMetadataComeFirst: of the summaries of a tag that goroutines add at once, the first one
// in the file has the metadata, by which TensorBoard knows what the others are.
func TestMetadataComeFirst(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir(), summary.FileWriterOptions{MaxQueue: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		s := tagged(t, string(rune('a'+i)))
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				<-start
				if err := w.Summary(1, s); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, e := range readEvents(t, w.Name())[1:] {
		v := e.GetSummary().GetValue()[0]
		if first := !seen[v.GetTag()]; first != (v.GetMetadata() != nil) {
			t.Errorf("tag %q: the first event must have the metadata, and no other", v.GetTag())
		}
		seen[v.GetTag()] = true
	}
}
