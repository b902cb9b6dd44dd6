package verbs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// FuzzBatch: what a peer writes as a batch is an error or messages, which come out
// of a batch of them again.
func FuzzBatch(f *testing.F) {
	b := make([]byte, batchRoom)
	all := []*message{
		{typ: tensorRequest, key: "k", step: 3, meta: floats(2)},
		{typ: metaDataUpdate, index: 1, meta: deadMeta()},
		{typ: errorStatus, index: 2, err: core.Errorf(core.DataLoss, "gone")},
		{typ: tensorRequest, key: strings.Repeat("long", 200)},
		{typ: tensorCancel, index: 4},
	}
	f.Add(slices.Clone(b[:putBatch(b, all)]))
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseBatch(b)
		if err != nil || len(all) > 10 {
			return
		}
		put := make([]byte, batchRoom)
		again, err := parseBatch(put[:putBatch(put, all)])
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if a, b := all[i].describe(), again[i].describe(); a != b {
				t.Errorf("%s comes back as %s", a, b)
			}
		}
	})
}

// TestBrokenBatch: lengths that do not fit are errors.
func TestBrokenBatch(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{[]byte{1, 0, 0}, "ends within a length"},
		{binary.LittleEndian.AppendUint32(nil, 600), "600 bytes, 0 follow"},
		{append(binary.LittleEndian.AppendUint32(nil, 1<<31), make([]byte, 9000)...), "at most 4679"},
		{append(binary.LittleEndian.AppendUint32(nil, 5000), make([]byte, 9000)...), "at most 4679"},
		{make([]byte, 4), "at least 583 bytes, got 0"},
	} {
		if _, err := parseBatch(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bytes: %v, want %q", len(c.b), err, c.want)
		}
	}
}

// TestBatchFits: any number of messages of any length goes in order, in writes that
// the peer has room for.
func TestBatchFits(t *testing.T) {
	for _, room := range []int{0, messageSize, 2 * (atBatched + messageSize), 20_000, batchRoom, 1 << 30} {
		t.Run(fmt.Sprint(room), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { sendMany(t, room) }) })
	}
}

func sendMany(t *testing.T, room int) {
	s := newStage(t)
	defer s.close()
	if err := s.c.connect(endpoint{Address: Address{QPN: 7}, hello: hello{room: room}}, false); err != nil {
		t.Fatal(err)
	}
	s.c.complete(s.peer("ping", []string{"gorge"}))
	s.settle()
	s.happens = nil
	const n = 300
	for i := range n {
		s.recv(fmt.Sprint(i), strings.Repeat("k", 1+i*6), 1)
	}
	var got []string
	for range n {
		s.settle()
		for _, what := range s.happens {
			what = strings.TrimPrefix(strings.TrimPrefix(what, "  > "), "batch ")
			got = append(got, strings.Split(what, " ; ")...)
		}
		s.happens = nil
		if s.c.tx.remote {
			s.c.complete(s.peer("ack", nil))
		}
	}
	if len(got) != n {
		t.Fatalf("%d messages went out, want %d", len(got), n)
	}
	for i, what := range got {
		if want := fmt.Sprintf("request %d k", i); !strings.HasPrefix(what, want) {
			t.Errorf("message %d is %.40s, want %s…", i, what, want)
		}
	}
	if got := s.c.Stats().Messages; got != n {
		t.Errorf("%d messages were counted, want %d", got, n)
	}
}
