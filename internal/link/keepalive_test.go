package link

import (
	"fmt"
	"testing"
	"time"
)

// TestSilence: a peer is asked when it has been silent and is gone when it has not
// answered, but not by the clock of a process that has not run itself.
func TestSilence(t *testing.T) {
	k := Keepalive{Time: 5 * time.Second, Timeout: 10 * time.Second}
	type look struct {
		now, heard int // seconds
		want       string
	}
	for name, looks := range map[string][]look{
		"answers":               {{5, 0, "ask 10s"}, {15, 6, "ask 10s"}, {25, 16, "ask 10s"}},
		"speaks":                {{5, 4, "4s"}, {9, 9, "5s"}, {14, 10, "1s"}, {15, 14, "4s"}},
		"is gone":               {{5, 0, "ask 10s"}, {15, 0, "gone 5s"}},
		"spoke before":          {{7, 2, "ask 10s"}, {17, 2, "gone 5s"}},
		"looked early":          {{5, 0, "ask 10s"}, {9, 0, "6s"}, {15, 0, "gone 5s"}},
		"held, then gone":       {{5, 0, "ask 10s"}, {100, 0, "ask 10s"}, {110, 0, "gone 5s"}},
		"held before it asked":  {{100, 0, "ask 10s"}, {110, 0, "gone 5s"}},
		"held, then answers":    {{5, 0, "ask 10s"}, {100, 0, "ask 10s"}, {110, 101, "ask 10s"}},
		"a little late":         {{5, 0, "ask 10s"}, {17, 0, "gone 5s"}},
		"late, and it has said": {{5, 0, "ask 10s"}, {30, 29, "4s"}, {34, 29, "ask 10s"}, {44, 29, "gone 5s"}},
	} {
		var s Silence
		for i, l := range looks {
			ask, gone, again := s.Look(k, time.Duration(l.now)*time.Second, time.Duration(l.heard)*time.Second)
			got := fmt.Sprint(again)
			if gone {
				got = "gone " + got
			}
			if ask {
				got = "ask " + got
			}
			if got != l.want {
				t.Errorf("%s, look %d at %d s: %s, want %s", name, i, l.now, got, l.want)
			}
		}
	}
}
