package cluster_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestRDMAFallbackToPeer: with the permission for that, tensors come by gRPC from
// a task that does not speak RDMA, and are the same.
func TestRDMAFallbackToPeer(t *testing.T) {
	want := trained(t, startWith(t, "grpc", io.Discard))
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	var log logged
	serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps})
	w := serve(t, cluster.Config{
		Cluster: spec, Job: "worker", Listener: worker, Protocol: "grpc+verbs", Log: slog.NewTextHandler(&log, nil),
		RDMA: cluster.RDMA{Provider: cluster.ProviderSoft, Fallback: true},
	})
	if got := trained(t, w.Target()); !slices.Equal(got, want) {
		t.Errorf("losses are\n%v, over grpc\n%v", got, want)
	}
	if !strings.Contains(log.String(), "a task does not speak RDMA") {
		t.Errorf("the log does not say that RDMA was not used:\n%s", log.String())
	}
}

// TestRDMAWithoutDevice: a server whose device is not there does not start, and
// says why; with the permission for that, it does without.
func TestRDMAWithoutDevice(t *testing.T) {
	c := cluster.Local("127.0.0.1:0")
	c.Protocol = "grpc+verbs"
	c.RDMA = cluster.RDMA{Provider: cluster.ProviderVerbs, Device: "not_there"}
	s, err := cluster.NewServer(c)
	if err == nil {
		s.Stop()
	}
	if code := tf.CodeOf(err); code != tf.Unimplemented && code != tf.FailedPrecondition && code != tf.NotFound || !strings.Contains(err.Error(), "Could not start the RDMA device") {
		t.Errorf("a server without its device: %v", err)
	}
	var log logged
	c.Log, c.RDMA.Fallback = slog.NewTextHandler(&log, nil), true
	if s = serve(t, c); s.Transport() != "grpc" || !strings.Contains(log.String(), "there is no RDMA") {
		t.Errorf("a server that may do without sends over %q and logs\n%s", s.Transport(), log.String())
	}
}

// TestRDMAUnderTLS: what crosses by the software provider is secured as all else,
// and the same; a card is refused, which would send plain text.
func TestRDMAUnderTLS(t *testing.T) {
	want := trained(t, startWith(t, "grpc", io.Discard))
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	c := cluster.Config{Cluster: spec, Protocol: "grpc+verbs", TLS: certificate(t), RDMA: cluster.RDMA{Provider: cluster.ProviderSoft}}
	c.Job, c.Listener = "ps", ps
	serve(t, c)
	c.Job, c.Listener = "worker", worker
	w := serve(t, c)
	r := newRegression("/job:ps", "/job:worker")
	s := open(t, r.g, w.Target(), func(o *session.Config) { o.TLS = c.TLS })
	if got := r.losses(t, s, trainingSteps); !slices.Equal(got, want) {
		t.Errorf("losses are\n%v, over grpc\n%v", got, want)
	}
	if stats := w.RDMAStats(); !strings.Contains(w.Transport(), "over TLS") || len(stats) != 1 {
		t.Errorf("tensors cross by %q: %+v", w.Transport(), stats)
	}

	card := cluster.Local("127.0.0.1:0")
	card.Protocol, card.TLS, card.RDMA.Provider = "grpc+verbs", c.TLS, cluster.ProviderVerbs
	bare := cluster.Local("127.0.0.1:0")
	bare.Protocol, bare.TLS, bare.RDMA.Provider = "grpc+verbs", &tls.Config{}, cluster.ProviderSoft
	for says, c := range map[string]cluster.Config{"must not cross in plain text": card, "needs a certificate": bare} {
		if s, err := cluster.NewServer(c); tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), says) {
			t.Errorf("a server is made: %v, want an error that says %q", err, says)
			if err == nil {
				s.Stop()
			}
		}
	}
	card.RDMA.Fallback = true
	if s := serve(t, card); s.Transport() != "grpc" {
		t.Errorf("a server that may do without sends over %q", s.Transport())
	}
}

// TestTransportIsShown: how tensors cross is told by the server, in its log and
// with its devices.
func TestTransportIsShown(t *testing.T) {
	var log logged
	c := cluster.Local("127.0.0.1:0")
	c.Protocol, c.RDMA.Provider, c.Log = "grpc+verbs", cluster.ProviderSoft, slog.NewTextHandler(&log, nil)
	s := serve(t, c)
	list, err := cluster.ListDevices(t.Context(), s.Target(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, shown := range map[string]string{"Transport": s.Transport(), "the device": list[0].Transport, "the log": log.String()} {
		if !strings.Contains(shown, "RDMA: software provider over TCP") {
			t.Errorf("%s shows %q", what, shown)
		}
	}
}

// TestRDMASettings: what cannot be is found when the server is made.
func TestRDMASettings(t *testing.T) {
	eight := 8
	for _, c := range []struct {
		set  cluster.RDMA
		says string
	}{
		{cluster.RDMA{Provider: "ucx"}, "provider"},
		{cluster.RDMA{Provider: cluster.ProviderSoft, MTU: 1500}, "MTU"},
		{cluster.RDMA{Provider: cluster.ProviderSoft, RetryCnt: &eight}, "retries"},
		{cluster.RDMA{Provider: cluster.ProviderSoft, Port: 1}, "RDMA_DEVICE"},
		{cluster.RDMA{Provider: cluster.ProviderSoft, Generation: 3}, "generation"},
	} {
		conf := cluster.Local("127.0.0.1:0")
		conf.Protocol, conf.RDMA = "grpc+verbs", c.set
		s, err := cluster.NewServer(conf)
		if err == nil {
			s.Stop()
		}
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want INVALID_ARGUMENT about %s", c.set, err, c.says)
		}
	}
}

// TestRDMAEnvironment: the variables of TensorFlow's servers count, and the
// configuration more.
func TestRDMAEnvironment(t *testing.T) {
	t.Setenv("RDMA_RETRY_CNT", "9")
	conf := cluster.Local("127.0.0.1:0")
	conf.Protocol, conf.RDMA.Provider = "grpc+verbs", cluster.ProviderSoft
	if s, err := cluster.NewServer(conf); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "RDMA_RETRY_CNT") {
		if err == nil {
			s.Stop()
		}
		t.Errorf("RDMA_RETRY_CNT=9 gives %v", err)
	}
	t.Setenv("RDMA_RETRY_CNT", "")
	t.Setenv("GORGE_RDMA_PROVIDER", "soft")
	conf.RDMA.Provider = ""
	if s := serve(t, conf); !strings.Contains(s.Transport(), "software") {
		t.Errorf("with GORGE_RDMA_PROVIDER=soft tensors go over %q", s.Transport())
	}
}

// provider is libibverbs in the virtual machine that has devices for it.
func provider() string {
	if os.Getenv("RXE_VM") != "" {
		return cluster.ProviderVerbs
	}
	return cluster.ProviderSoft
}

// TestCollectivesOverRDMA: what devices of several tasks sum up crosses by RDMA,
// and comes out as over gRPC.
func TestCollectivesOverRDMA(t *testing.T) {
	for name, generation := range map[string]int{"last generation": 2, "older generation": 1} {
		t.Run(name, func(t *testing.T) { sumUpOverRDMA(t, generation) })
	}
}

func sumUpOverRDMA(t *testing.T, generation int) {
	r := startAlike(t, map[string]int{"worker": 2}, cluster.Config{
		Protocol: "grpc+verbs", RDMA: cluster.RDMA{Provider: provider(), Generation: generation},
		Devices: map[string]int{"CPU": 2}, CollectiveLeader: "/job:worker/task:0",
	})
	g := tf.NewGraph()
	x, ys := sums(g, 2, 0, 1)
	s := open(t, g, r.servers["worker:1"].Target())
	for range 3 {
		got, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1))}, ys...)
		checkSums(t, got, err, []float32{10})
	}
	before, staged := written(r), copied(r)
	big := slices.Repeat([]float32{1, 2}, 500_000)
	got, err := s.Run(t.Context(), session.Feeds{x: must(tf.FromSlice(big, len(big)))}, ys...)
	checkSums(t, got, err, slices.Repeat([]float32{10, 14}, 500_000))
	if n := copied(r) - staged; generation == 2 && n != 0 {
		t.Errorf("%d bytes were copied on their way", n)
	}
	if n := written(r) - before; n < int64(4*len(big)) {
		t.Errorf("%d bytes went by RDMA, the values alone have %d", n, 4*len(big))
	}
}

// copied is how many bytes of tensors all servers have copied to registered memory or
// from it.
func copied(r *running) (n int64) {
	for _, s := range r.servers {
		for _, c := range s.RDMAStats() {
			n += c.StagedLen
		}
	}
	return n
}

// written is how many bytes of tensors all servers have written by RDMA.
func written(r *running) (n int64) {
	for _, s := range r.servers {
		for _, c := range s.RDMAStats() {
			n += c.Bytes
		}
	}
	return n
}

// TestCollectivesGivenUp: a collective operation that is given up while others
// write to it fails, and the next one works.
func TestCollectivesGivenUp(t *testing.T) {
	r := startAlike(t, map[string]int{"worker": 2}, cluster.Config{
		Protocol: "grpc+verbs", RDMA: cluster.RDMA{Provider: provider()},
		Devices: map[string]int{"CPU": 2}, CollectiveLeader: "/job:worker/task:0",
	})
	g := tf.NewGraph()
	x, ys := sums(g, 2, 0, 1)
	s := open(t, g, r.servers["worker:1"].Target())
	big := must(tf.FromSlice(make([]float32, 300_000), 300_000))
	for i := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := s.Run(ctx, session.Feeds{x: big}, ys...); err != nil && tf.CodeOf(err) != tf.Canceled {
			t.Fatalf("step %d, given up: %v", i, err)
		}
	}
	got, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1))}, ys...)
	checkSums(t, got, err, []float32{10})
}
