package statuspage

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// crowd is a server with more sessions than have metrics of their own. Their names are
// those that clients may choose.
type crowd struct{}

func (crowd) Status() cluster.Status {
	s := cluster.Status{Memory: map[string]int64{}}
	for i := range 3 * maxSeries {
		name := fmt.Sprintf("a \"session\"\n\\%04d", i)
		s.Memory[name] = int64(i)
		s.Sessions = append(s.Sessions, cluster.SessionStatus{Handle: name, Nodes: i})
	}
	return s
}

// seriesOf returns the sessions that a family has metrics of.
func seriesOf(t *testing.T, r *prometheus.Registry, family string) map[string]bool {
	t.Helper()
	families, err := r.Gather() // refuses series that come twice
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, f := range families {
		if f.GetName() == family {
			for _, m := range f.GetMetric() {
				out[m.GetLabel()[0].GetValue()] = true
			}
		}
	}
	return out
}

// TestSeriesStay reads the metrics of many sessions twice: each time the same ones must
// have series, or graphs of them are all gaps.
func TestSeriesStay(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(Collector(crowd{}))
	for _, family := range []string{"gorge_session_memory_bytes", "gorge_session_nodes"} {
		first, second := seriesOf(t, r, family), seriesOf(t, r, family)
		if len(first) != maxSeries {
			t.Errorf("%s has %d series, want %d", family, len(first), maxSeries)
		}
		for name := range first {
			if !second[name] {
				t.Errorf("%s has a series of %q at first only", family, name)
			}
		}
	}
}
