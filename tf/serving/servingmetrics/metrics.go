// Package servingmetrics keeps the metrics of a model server for Prometheus, by
// TensorFlow Serving's names, together with those of Go's runtime.
package servingmetrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gorge-tf/gorge/tf"
)

// DefaultPath is where TensorFlow Serving shows metrics unless it is told otherwise.
const DefaultPath = "/monitoring/prometheus/metrics"

// prefix begins the names; TensorFlow Serving has : for the / of its own names.
const prefix = ":tensorflow:serving:"

// Metrics are the metrics of one server: a serving.Metrics.
type Metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	latency, runs *prometheus.HistogramVec
	examples      *prometheus.HistogramVec
	exampleCount  *prometheus.CounterVec
	batches       *prometheus.HistogramVec
	batched       *prometheus.CounterVec
}

// New returns metrics that have counted nothing.
func New() *Metrics {
	// Microseconds, up to about 40 minutes; counts up to 4 million.
	times, counts := prometheus.ExponentialBuckets(10, 1.8, 33), prometheus.ExponentialBuckets(1, 2, 23)
	m := &Metrics{
		registry:     prometheus.NewRegistry(),
		requests:     counter("request_count", "The total number of requests.", "model_name", "status"),
		latency:      histogram("request_latency", "Distribution of wall time (in microseconds) for requests.", times, "model_name", "API", "entrypoint"),
		runs:         histogram("runtime_latency", "Distribution of wall time (in microseconds) for runs of models.", times, "model_name", "API", "runtime"),
		examples:     histogram("request_example_counts", "The number of tensorflow.Examples per request.", counts, "model"),
		exampleCount: counter("request_example_count_total", "The total number of tensorflow.Examples.", "model"),
		batches:      histogram("batch_size", "The number of rows in batches, with those that fill them up.", counts, "model_name"),
		batched:      counter("batched_request_count", "The total number of requests that were run in batches.", "model_name"),
	}
	m.registry.MustRegister(m.requests, m.latency, m.runs, m.examples, m.exampleCount, m.batches, m.batched,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
}

// Handler shows the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// unknown is the name of all models that the server does not have.
const unknown = "unknown"

// Request counts a request; the model "" is any that the server does not have. Only
// the times of those count that have succeeded.
func (m *Metrics) Request(model, api, entrypoint string, code tf.Code, d time.Duration) {
	if model == "" {
		model = unknown
	}
	m.requests.WithLabelValues(model, code.String()).Inc()
	if code == tf.OK {
		m.latency.WithLabelValues(model, api, entrypoint).Observe(micros(d))
	}
}

// Run counts a run of a model.
func (m *Metrics) Run(model, api string, d time.Duration) {
	m.runs.WithLabelValues(model, api, "TF1").Observe(micros(d))
}

// Examples counts examples that have come with a request.
func (m *Metrics) Examples(model string, n int) {
	m.examples.WithLabelValues(model).Observe(float64(n))
	m.exampleCount.WithLabelValues(model).Add(float64(n))
}

// Batch counts a batch.
func (m *Metrics) Batch(model string, size, requests int) {
	m.batches.WithLabelValues(model).Observe(float64(size))
	m.batched.WithLabelValues(model).Add(float64(requests))
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
