package servingmetrics_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/serving"
	"github.com/gorge-tf/gorge/tf/serving/servingmetrics"
)

// A program gives the metrics to its server, which tells them of requests, and mounts
// their handler for Prometheus.
func ExampleMetrics() {
	m := servingmetrics.New()
	config := serving.Config{Metrics: m}
	config.Metrics.Request("half", "Predict", "GRPC", tf.OK, 15*time.Microsecond) // the server does

	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", servingmetrics.DefaultPath, nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, ":tensorflow:serving:request_count{") {
			fmt.Print(line)
		}
	}
	// Output: :tensorflow:serving:request_count{model_name="half",status="OK"} 1
}
