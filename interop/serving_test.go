package interop

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// servingAPI names a directory that has tensorflow-serving-api 2.21.0, which needs
// no more than what TensorFlow comes with.
var servingAPI = os.Getenv("GORGE_SERVING_API")

// TestServingClient calls every method of the model server with TensorFlow Serving's
// own client, and compares results and texts.
func TestServingClient(t *testing.T) {
	needTensorFlow(t)
	if servingAPI == "" {
		t.Skip("GORGE_SERVING_API names no directory that has tensorflow-serving-api")
	}
	dir, err := filepath.Abs("../tf/serving/testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, batching := range []string{"", "max_batch_size { value: 8 } batch_timeout_micros { value: 100 } allowed_batch_sizes: 2 allowed_batch_sizes: 8"} {
		t.Run(map[bool]string{true: "alone", false: "batched"}[batching == ""], func(t *testing.T) {
			grpc, rest := modelServer(t, dir, batching)
			if out := servingPython(t, "testdata/serving.py", grpc, rest, dir); out != "ok\n" {
				t.Error(out)
			}
			if batching != "" {
				return
			}
			if out := servingPython(t, "-c", strings.ReplaceAll(shownClient(t), "localhost:8500", grpc)); out != "[3. 4.]\n" {
				t.Errorf("the client in docs/serving.md prints %s", out)
			}
		})
	}
}

// servingPython runs Python with TensorFlow Serving's client.
func servingPython(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+servingAPI)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v\n%s", err, lastLines(errors.String(), 15))
	}
	return string(out)
}

// shownClient returns the client in Python that docs/serving.md shows.
func shownClient(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	_, client, _ := strings.Cut(string(page), "```python\n")
	client, _, _ = strings.Cut(client, "```")
	return client
}

var servingAddresses = regexp.MustCompile(`^gRPC at (\S+), REST at (\S+)\n$`)

// modelServer starts the server that users have, which ends with the test, and
// returns where it is.
func modelServer(t *testing.T, dir, batching string) (grpc, rest string) {
	t.Helper()
	file := func(name, text string) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	models := file("models.config", fmt.Sprintf(`model_config_list { config { name: 'half' base_path: '%s/half' model_platform: 'tensorflow'
		model_version_policy { all {} } version_labels { key: 'first' value: 1 } } }`, dir))
	monitoring := file("monitoring.config", "prometheus_config { enable: true }")
	args := []string{"model-server", "--host=127.0.0.1", "--port=0", "--rest_api_port", "-1", "--rest_api_enable_cors_support", "--model_config_file=" + models, "--monitoring_config_file=" + monitoring, "--log=warn"}
	if batching != "" {
		args = append(args, "--enable_batching", "--batching_parameters_file="+file("batching.config", batching))
	}
	cmd := exec.Command(gorge, args...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		hard := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
		defer hard.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, errors.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	parts := servingAddresses.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("the server says %q, %v\n%s", line, err, errors.String())
	}
	return parts[1], parts[2]
}
