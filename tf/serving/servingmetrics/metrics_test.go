package servingmetrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

func TestNamesAreTensorFlowServings(t *testing.T) {
	m := New()
	m.Request("m", "Predict", "GRPC", tf.OK, 15*time.Microsecond)
	m.Request("", "predict", "REST", tf.NotFound, time.Second)
	m.Request("m", "Predict", "GRPC", tf.NotFound, time.Second)
	m.Run("m", "Predict", 5*time.Microsecond)
	m.Examples("m", 3)
	m.Batch("m", 8, 2)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", DefaultPath, nil))
	for _, want := range []string{
		`:tensorflow:serving:request_count{model_name="m",status="OK"} 1`,
		`:tensorflow:serving:request_count{model_name="m",status="NOT_FOUND"} 1`,
		`:tensorflow:serving:request_count{model_name="unknown",status="NOT_FOUND"} 1`,
		`:tensorflow:serving:request_latency_bucket{API="Predict",entrypoint="GRPC",model_name="m",le="10"} 0`,
		`:tensorflow:serving:request_latency_bucket{API="Predict",entrypoint="GRPC",model_name="m",le="18"} 1`,
		`:tensorflow:serving:runtime_latency_sum{API="Predict",model_name="m",runtime="TF1"} 5`,
		`:tensorflow:serving:request_example_counts_sum{model="m"} 3`,
		`:tensorflow:serving:batched_request_count{model_name="m"} 2`,
		"go_goroutines ",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in\n%.3000s", want, w.Body)
		}
	}
}
