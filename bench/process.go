package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// process is workload 13: what a whole process costs.
func process(b *bench) {
	first, rss := 1e9, 0.0
	for range min(8, b.repeat) {
		took, r := b.role("hello")
		first, rss = min(first, took.Seconds()), max(rss, r.RSS)
	}
	b.spread = 1
	b.emit("hello.first_result_s", first, "s")
	b.emit("hello.peak_rss_MB", rss, "MB")
	_, r := b.role("mlp_rss")
	b.check("mlp_adam.loss_last", r.Result, nil)
	b.emit("mlp_adam.peak_rss_MB", r.RSS, "MB")
	info := must(os.Stat(must(os.Executable())))
	b.emit("installed_packages_MB", float64(info.Size())/1e6, "MB")
}

type roleResult struct {
	Result float64 `json:"result"`
	RSS    float64 `json:"rss"`
}

// role runs a part in a process of its own and returns the time until its
// result was read.
func (b *bench) role(name string) (time.Duration, roleResult) {
	cmd := exec.Command(must(os.Executable()), "-role", name, strconv.Itoa(b.threads))
	out := must(cmd.StdoutPipe())
	start := time.Now()
	if err := cmd.Start(); err != nil {
		fatal(err)
	}
	line := must(bufio.NewReader(out).ReadString('\n'))
	took := time.Since(start)
	if err := cmd.Wait(); err != nil {
		fatal(err)
	}
	var r roleResult
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		fatal(err)
	}
	return took, r
}

// actAs is the other side of role.
func actAs(role string, args []string) {
	b := &bench{threads: 1}
	if len(args) > 0 {
		b.threads = must(strconv.Atoi(args[0]))
	}
	switch role {
	case "hello":
		b.hello()
	case "mlp_rss":
		b.mlpRSS()
	default:
		actInCluster(b, role, args)
	}
}

func (b *bench) hello() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := ops.AddV2(ops.Identity(x), ops.Scalar(g, float32(1)))
	s := b.open(g, false)
	report(float64(must(session.Fetch[float32](ctx, s, session.Feeds{x: tf.Scalar(float32(41))}, y))[0]))
}

func (b *bench) mlpRSS() {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{100, 784}), ops.Placeholder(g, tf.Int32, tf.Shape{100})
	loss := (&mlp{g: g}).net(x, y)
	step := train.Adam{LearningRate: 0.001}.Minimize(loss)
	s := b.open(g, false)
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	last := float32(0)
	batches := imageBatches(10, 100, 784)
	for k := range 20 {
		v := batches[k%10]
		last = must(session.Fetch[float32](ctx, s, session.Feeds{x: v[0], y: v[1]}, loss, step))[0]
	}
	report(float64(last))
}

func report(result float64) {
	line := must(json.Marshal(roleResult{result, peakRSS("self")}))
	fmt.Println(string(line))
}

// peakRSS returns the most memory a process has held, in units of 2^20 bytes.
func peakRSS(pid string) float64 {
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
