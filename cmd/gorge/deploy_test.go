//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf/cluster"
)

// block returns the lines of a literal block in a YAML file, without their indent.
func block(t *testing.T, text, key string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n  "+key+": |\n")
	if !ok {
		t.Fatalf("there is no block %s", key)
	}
	var out strings.Builder
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		out.WriteString(strings.TrimPrefix(line, "    "))
	}
	return out.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDeployFiles: the flags, roles and clusters in the files for operators are ones
// that gorge serve understands.
func TestDeployFiles(t *testing.T) {
	const dir = "../../deploy/"
	k8s, unit := read(t, dir+"kubernetes/cluster.yaml"), read(t, dir+"systemd/example.flags")
	for name, text := range map[string]string{"the config map": block(t, k8s, "flags"), "systemd's flags": unit} {
		path := t.TempDir() + "/flags"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := parseServe([]string{"--config", path}, io.Discard); err != nil || !f.tls.wanted() || f.observe.port != 9090 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for name, text := range map[string]string{"the config map": block(t, k8s, "roles"), "systemd's roles": read(t, dir+"systemd/example.roles")} {
		if _, err := secure.ParseRoles([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cut := regexp.MustCompile(`(?s)cluster: >-\n(.*?)\n  \w`).FindStringSubmatch(k8s)
	for _, m := range regexp.MustCompile(`value: '(\{.*\})'`).FindAllStringSubmatch(k8s, -1) {
		config := strings.NewReplacer("$(CLUSTER)", strings.Join(strings.Fields(cut[1]), " "), "$(TASK)", "1").Replace(m[1])
		if c, err := cluster.FromTFConfig(config); err != nil || c.Job == "" {
			t.Errorf("TF_CONFIG %s: %v", config, err)
		}
	}
	args := 0
	for _, text := range []string{k8s, read(t, dir+"kubernetes/tfjob.yaml"), read(t, dir+"compose.yaml")} {
		for _, m := range regexp.MustCompile(`(?m)(?:- |, )(--[a-z_]+=[^,\]\n][^\n\]]*?)(?:,|\]|$)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "--config=") {
				continue
			}
			for _, flag := range strings.Split(m[1], ", --") {
				args++
				if _, err := parseServe([]string{"--" + strings.TrimLeft(flag, "-")}, io.Discard); err != nil {
					t.Errorf("%s: %v", flag, err)
				}
			}
		}
	}
	if args < 20 {
		t.Errorf("%d flags were found only", args)
	}
}

// TestRestricted: every container is one that namespace gorge admits, which enforces the pod
// security standard "restricted".
func TestRestricted(t *testing.T) {
	for _, name := range []string{"cluster", "tfjob"} {
		text := read(t, "../../deploy/kubernetes/"+name+".yaml")
		containers := strings.Count(text, " image: ")
		for _, rule := range []string{"allowPrivilegeEscalation: false\n", "capabilities: {drop: [ALL]}\n", "runAsNonRoot: true\n", "seccompProfile: {type: RuntimeDefault}\n"} {
			if got := strings.Count(text, rule); got != containers || got == 0 {
				t.Errorf("%s.yaml has %d containers, %d have %q", name, containers, got, rule)
			}
		}
	}
}

// TestNextChiefFindsTasks: what leaves with the chief is started again although its status
// is 0, since a chief that has failed comes again.
func TestNextChiefFindsTasks(t *testing.T) {
	tasks := 0
	for part := range strings.SplitSeq(read(t, "../../deploy/kubernetes/cluster.yaml"), "\n---\n") {
		if strings.Contains(part, "args: [serve, --config=/etc/gorge/flags]") { // which have exit_with
			if tasks++; !strings.Contains(part, "\nkind: StatefulSet\n") {
				t.Errorf("its pods are not started again:\n%s", part)
			}
		}
	}
	for _, part := range strings.Split(read(t, "../../deploy/kubernetes/tfjob.yaml"), "      replicas: ")[1:] {
		if strings.Contains(part, "--exit_with=") {
			if tasks++; !strings.Contains(part, "      restartPolicy: Always\n") {
				t.Errorf("its pods are not started again:\n%s", part)
			}
		}
	}
	if tasks != 4 {
		t.Errorf("%d kinds of tasks leave with the chief, want 4", tasks)
	}
}

// TestOperations: the page for operators names all flags of gorge serve, and none that
// neither it nor gorge graph explain has.
func TestOperations(t *testing.T) {
	page := read(t, "../../docs/operations.md")
	var help strings.Builder
	if _, err := parseServe([]string{"-h"}, &help); err == nil {
		t.Fatal("help is an error of flags")
	}
	has := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  -([a-z_]+)`).FindAllStringSubmatch(help.String(), -1) {
		if has[m[1]] = true; !regexp.MustCompile(`--` + m[1] + `\b`).MatchString(page) {
			t.Errorf("the page does not name --%s", m[1])
		}
	}
	if len(has) < 40 {
		t.Errorf("%d flags were found only", len(has))
	}
	var explain strings.Builder
	_ = explainGraph(t.Context(), []string{"-h"}, &explain) // help
	for _, m := range regexp.MustCompile(`(?m)^  -([a-z_]+)`).FindAllStringSubmatch(explain.String(), -1) {
		has[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`--([a-z_]+)`).FindAllStringSubmatch(page, -1) {
		if !has[m[1]] {
			t.Errorf("the page names --%s, which neither gorge serve nor gorge graph explain has", m[1])
		}
	}
}

// freePort returns a port that is free, and stays so until a server listens there: systems
// give programs that ask for any port one from 32768 on.
func freePort(t *testing.T) int {
	t.Helper()
	for tries := 0; ; tries++ {
		port := 10_000 + rand.IntN(20_000)
		lis, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			lis.Close()
			return port
		}
		if tries > 1000 {
			t.Fatal(err)
		}
	}
}

// probe asks as the kubelet does; 0: there is no answer.
func probe(port int, path string) int {
	c := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// fetch returns a page.
func fetch(t *testing.T, port int, path string) string {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestProbes: a process is healthy and ready when it says where it is; when it is told
// to leave it is ready no more, and healthy until the end of its steps.
func TestProbes(t *testing.T) {
	port := freePort(t)
	p := startServer(t, fmt.Sprintf("--http_port=%d", port), "--grace=1m", "--http_profile", "--log_format=json")
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/": 200, "/debug/pprof/": 200, "/nothing": 404} {
		if got := probe(port, path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	g, y, pipe := reading(t)
	ended := p.step(g, y)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // which waits for the step to read
	if err != nil {
		t.Fatal(err)
	}
	p.signal()
	for probe(port, "/readyz") == 200 {
		time.Sleep(time.Millisecond) // until the process has taken note of the signal
	}
	if ready, healthy := probe(port, "/readyz"), probe(port, "/healthz"); ready != 503 || healthy != 200 {
		t.Errorf("while it drains a process is ready: %d, healthy: %d", ready, healthy)
	}
	w.Close()
	if err := <-ended; err != nil {
		t.Errorf("the step that was under way: %v", err)
	}
	if got := p.status(); got != 0 {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
}

// TestAnyHTTPPort: the log tells which port health and metrics have.
func TestAnyHTTPPort(t *testing.T) {
	p := startServer(t, "--http_port=-1", "--log=info")
	p.signal()
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
	if log := p.stderr.String(); !regexp.MustCompile(`health and metrics are served.* address=127\.0\.0\.1:[1-9]`).MatchString(log) {
		t.Errorf("the log is %s", log)
	}
}

// TestExitWithLeaves: a process leaves, content, when the task is gone that it is to
// exit with.
func TestExitWithLeaves(t *testing.T) {
	ps, chief := freePort(t), freePort(t)
	spec := fmt.Sprintf("--cluster_spec=ps|127.0.0.1:%d,chief|127.0.0.1:%d", ps, chief)
	web := freePort(t)
	boss := startServer(t, spec, "--job_name=chief", fmt.Sprintf("--http_port=%d", web))
	p := startServer(t, spec, "--job_name=ps", "--exit_with=/job:chief/task:0", "--log=info", "--log_format=json")
	for !strings.Contains(fetch(t, web, "/metrics"), `grpc_server_handled_total{grpc_code="OK",grpc_method="GetStatus"`) {
		time.Sleep(time.Millisecond) // until the chief has been asked whether it is up
	}
	if err := boss.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := boss.status(); got != 0 {
		t.Errorf("the chief's status is %d: %s", got, boss.stderr.String())
	}
	if got := p.status(); got != 0 {
		t.Errorf("status %d: %s", got, p.stderr.String())
	}
	for line := range strings.Lines(p.stderr.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log is not JSON: %s", line)
		}
	}
}
