package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"
)

// bench is one run of one workload.
type bench struct {
	workload   string
	threads    int
	repeat     int
	quick      bool
	kernels    []string
	saveMemory bool
	trace      string  // a folder for the RunMetadata of a traced step, instead of measurements
	spread     float64 // of the last measurement: median over best
}

// row is one line of output.
type row struct {
	Workload string         `json:"workload"`
	Metric   string         `json:"metric"`
	Value    float64        `json:"value"`
	Unit     string         `json:"unit"`
	Config   map[string]any `json:"config"`
}

func (b *bench) print(metric string, value float64, unit string, extra map[string]any) {
	config := map[string]any{"impl": "gorge", "threads": b.threads, "gomaxprocs": runtime.GOMAXPROCS(0)}
	for k, v := range extra {
		config[k] = v
	}
	line, err := json.Marshal(row{b.workload, metric, value, unit, config})
	if err != nil {
		fatal(err)
	}
	fmt.Println(string(line))
}

// emit reports the last measurement.
func (b *bench) emit(metric string, value float64, unit string) {
	b.print(metric, round(value, 6), unit, map[string]any{"median_over_best": round(b.spread, 4)})
}

// check reports a value that proves that the work is the same.
func (b *bench) check(metric string, value float64, extra map[string]any) {
	b.print("check."+metric, round(value, 9), "", extra)
}

func round(x float64, digits int) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	p := math.Pow(10, float64(digits)-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*p) / p
}

// steps is how many of n steps a repeat has.
func (b *bench) steps(n int) int {
	if b.quick {
		return max(n/10, 1)
	}
	return n
}

// best returns the seconds of one call of f in the best of some repeats of n
// calls each. The garbage collector runs as it will: repeats last long enough
// to have their share of it, or it does not run at all.
func (b *bench) best(n, repeat int, f func()) float64 {
	times := make([]float64, min(repeat, b.repeat))
	for i := range times {
		start := time.Now()
		for range n {
			f()
		}
		times[i] = time.Since(start).Seconds() / float64(n)
	}
	slices.Sort(times)
	b.spread = times[len(times)/2] / times[0]
	return times[0]
}

// bestAuto is best with as many calls in a repeat as last 0.05 s.
func (b *bench) bestAuto(f func()) float64 {
	const floor = 0.05
	f()
	f()
	start := time.Now()
	f()
	one := time.Since(start).Seconds()
	return b.best(max(2, min(20000, int(floor/max(one, 1e-7)))), b.repeat, f)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// must ends the program: a benchmark that goes wrong has no result.
func must[T any](v T, err error) T {
	if err != nil {
		fatal(err)
	}
	return v
}
