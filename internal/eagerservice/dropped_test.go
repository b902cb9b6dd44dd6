package eagerservice

import (
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/data"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestDroppedIterator: an iterator that computes in advance ends when the client gives up
// its handle, not only with the context.
func TestDroppedIterator(t *testing.T) {
	c := newClient(t, newService(t), 7)
	before := goleak.IgnoreCurrent()
	about := core.Attrs{"output_types": []core.DType{core.Int64}, "output_shapes": []core.Shape{{}}}
	d := c.do("RangeDataset", about, core.Scalar(int64(0)), core.Scalar(int64(1<<40)), core.Scalar(int64(1)))
	d = c.do("PrefetchDataset", about, d, core.Scalar(int64(2)))
	it := c.do("AnonymousIteratorV3", about)
	c.do("MakeIterator", nil, d, it)
	for want := range int64(3) {
		if got := c.fetch(c.do("IteratorGetNext", about, it)); core.Data[int64](got)[0] != want {
			t.Errorf("element %v, want %d", got, want)
		}
		runtime.GC()
	}
	if _, err := c.enqueue(&pb.QueueItem{Item: &pb.QueueItem_HandleToDecref{HandleToDecref: it.proto()}}); err != nil {
		t.Fatal(err)
	}
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		runtime.GC()
		if err = goleak.Find(before); err == nil { // which waits a little
			return
		}
	}
	t.Error(err)
}
