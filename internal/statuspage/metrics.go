// Package statuspage shows how a server of a cluster is: as metrics, and as a page
// for people that needs nothing but a browser.
package statuspage

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// A Source is a server that says how it is.
type Source interface{ Status() cluster.Status }

// collector asks the server each time that metrics are read.
type collector struct{ s Source }

// Collector returns the metrics of a server.
func Collector(s Source) prometheus.Collector { return collector{s} }

var (
	up            = desc("gorge_ready", "1 if the server takes sessions and steps.")
	sessions      = desc("gorge_sessions", "Sessions that clients have open at the master.")
	inner         = desc("gorge_worker_sessions", "Sessions of masters, and eager contexts, that the worker has.")
	steps         = desc("gorge_steps_under_way", "Calls of the master's sessions under way.")
	ran           = desc("gorge_worker_steps", "Steps that have run at the worker and are not cleaned up.")
	waits         = desc("gorge_rendezvous_waits", "Receives that wait for a value of this task.")
	tensors       = desc("gorge_received_tensors_total", "Tensors that came from other tasks.", "transport")
	receivedBytes = desc("gorge_received_bytes_total", "Bytes of their elements.", "transport")
	links         = desc("gorge_links", "Links that clients and other tasks have open.")
	calls         = desc("gorge_link_calls", "Calls under way on links.")
	queued        = desc("gorge_link_queued_bytes", "Bytes of answers that peers have not taken from their links.")
	memoryInUse   = desc("gorge_memory_bytes", "Memory that the process uses, garbage included.")
	memoryLimit   = desc("gorge_memory_limit_bytes", "Memory that it may use.")
	memoryHeld    = desc("gorge_session_memory_bytes", "Memory that steps of a session have allocated in blocks of 64 KB and more and that is in use.", "session")
	resources     = desc("gorge_resource_memory_bytes", "Memory of variables, queues and other resources, no matter who allocated it.", "kind")
	sessionNodes  = desc("gorge_session_nodes", "Nodes of a session's graph.", "session")
	sessionActive = desc("gorge_session_calls", "Calls of a session under way.", "session")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe names the metrics.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{up, sessions, inner, steps, ran, waits, tensors, receivedBytes, links, calls, queued, memoryInUse, memoryLimit, memoryHeld, resources, sessionNodes, sessionActive} {
		out <- d
	}
	for _, q := range queuePairs {
		out <- q.desc
	}
}

// maxSeries bounds the sessions that have metrics of their own: there may be
// thousands.
const maxSeries = 100

// Collect asks the server.
func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.s.Status()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	ready := 0.0
	if s.Ready {
		ready = 1
	}
	gauge(up, ready)
	gauge(sessions, float64(len(s.Sessions)))
	gauge(inner, float64(len(s.WorkerSessions)))
	gauge(steps, float64(s.Steps))
	gauge(ran, float64(s.WorkerSteps))
	gauge(waits, float64(s.Waiting))
	count(tensors, s.Received.Tensors, s.Transport)
	count(receivedBytes, s.Received.Bytes, s.Transport)
	gauge(links, float64(s.Links.Links))
	gauge(calls, float64(s.Links.Calls))
	gauge(queued, float64(s.Links.Queued))
	gauge(memoryInUse, float64(s.MemoryInUse))
	gauge(memoryLimit, float64(s.MemoryLimit))
	collectRDMA(s.RDMA, count)
	named := slices.Sorted(maps.Keys(s.Memory)) // the same sessions each time, if there are too many
	for _, name := range named[:min(len(named), maxSeries)] {
		gauge(memoryHeld, float64(s.Memory[name]), name)
	}
	for kind, held := range s.Resources {
		gauge(resources, float64(held), kind)
	}
	for _, x := range s.Sessions[:min(len(s.Sessions), maxSeries)] {
		gauge(sessionNodes, float64(x.Nodes), x.Handle)
		gauge(sessionActive, float64(x.Active), x.Handle)
	}
}
