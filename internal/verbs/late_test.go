package verbs

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestProducedDuringCancel: a value that was on its way to the peer when the peer gave it
// up is not offered: the peer does not say a second time that it does not need it, so both
// ends would keep it.
func TestProducedDuringCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		defer s.close()
		for _, line := range []string{"connect 7", "peer ping gorge", "peer request 1 k 1 ?"} {
			s.do(strings.Fields(line))
		}
		done := s.take("k 1") // the rendezvous has found the value
		s.do(strings.Fields("peer cancel 1"))
		s.happens = nil
		done(core.NewTensor(core.Float32, core.Shape{3}), false, nil)
		s.settle()
		if want := []string{"  > error 1 CANCELLED: the receive was cancelled"}; !slices.Equal(s.happens, want) {
			t.Errorf("the peer is told %q, want %q", s.happens, want)
		}
		if n := len(s.c.responses); n != 0 {
			t.Errorf("%d responses are left", n)
		}
	})
}
