package verbs

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestNoGreetingComes: a receive does not wait for ever for a peer that has asked for a
// connection and does not greet. One that greets late has all the time that others have.
func TestNoGreetingComes(t *testing.T) {
	for _, greets := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			defer s.close()
			if err := s.c.connect(endpoint{Address: Address{QPN: 7}}, true); err != nil {
				t.Fatal(err)
			}
			k := s.adapter.config
			beats := int(k.Patience / k.Pulse)
			for range 3 * beats { // nothing waits
				s.c.keepalive()
			}
			s.do(strings.Fields("recv a k 1"))
			for range beats {
				s.c.keepalive()
			}
			if synctest.Wait(); s.c.over() != nil {
				t.Fatalf("the channel is over too early: %v", s.c.over())
			}
			if greets {
				s.manual = true
				s.do(strings.Fields("peer ping gorge"))
			}
			for range 2 {
				s.c.keepalive()
			}
			synctest.Wait()
			if err := s.c.over(); (err != nil) == greets {
				t.Errorf("greets %v: the channel is over: %v", greets, err)
			}
		})
	}
}
