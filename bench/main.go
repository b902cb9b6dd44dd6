// Command bench measures Gorge on workloads that a twin of it runs on
// TensorFlow, and prints one JSON object a line. Lines of two programs with the
// same workload, metric and threads can be compared; metrics named check.* show
// that the work was the same. BENCHMARKS.md has results.
//
//	go run ./bench                       # all, with 1 and with 2 threads
//	go run ./bench -only 3,8 -threads 1 -kernel matmul
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// workloads, by the names that both programs use.
var workloads = []struct {
	name string
	run  func(*bench)
}{
	{"01-null-op", nullOp}, {"02-latency", latency}, {"03-mlp-train", mlpTrain}, {"04-lenet-train", lenetTrain},
	{"05-resnet20-train", resnetTrain}, {"06-lstm-train", lstmTrain}, {"07-word2vec-train", word2vecTrain}, {"08-kernels", kernels}, {"09-while-counter", whileCounter},
	{"10-queues", queues}, {"11-saver", saver}, {"12-distributed", distributed}, {"13-process", process}, {"14-cnn-latency", cnnLatency}, {"15-eager", eagerOps},
	{"16-import", importGraph}, {"17-input", input}, {"18-rdma", rdma}, {"19-large-graphs", largeGraphs}, {"20-monitored", monitored},
	{"21-dynamic-rnn", dynamicRNN}, {"22-beam-search", beamSearch}, {"23-feature-columns", columns}, {"24-estimator", estimatorSteps}, {"25-copies", copies}, {"26-chains", chains},
	{"27-guarded", guarded}, {"28-transformer-train", transformerTrain}, {"29-mobilenet-train", mobilenetTrain}, {"30-inference", inference}, {"31-wide-deep-train", wideDeepTrain},
	{"32-other-kernels", otherKernels},
}

func main() {
	only := flag.String("only", "", "workloads, by number or start of name, separated by commas")
	threads := flag.String("threads", "1,2", "thread settings, separated by commas")
	repeat := flag.Int("repeat", 15, "repeats of each measurement; the best counts")
	quick := flag.Bool("quick", false, "a tenth of the steps")
	kernel := flag.String("kernel", "", "8, 21, 23, 26, 30, 32: only kernels whose name contains one of these")
	profile := flag.String("profile", "", "with -child: write a CPU profile to this file")
	trace := flag.String("trace", "", "3 to 7, 14, 28 to 31: instead of measuring write the RunMetadata of a traced step to this folder")
	saveMemory := flag.Bool("save-memory", false, "sessions prefer less memory to less time")
	child := flag.String("child", "", "run this workload in this process")
	role := flag.String("role", "", "act as this part of workload 12 or 13")
	flag.Parse()
	switch {
	case *role != "":
		actAs(*role, flag.Args())
	case *child != "":
		n := must(strconv.Atoi(*threads))
		runtime.GOMAXPROCS(max(n, 2))
		b := &bench{workload: *child, threads: n, repeat: *repeat, quick: *quick, trace: *trace, saveMemory: *saveMemory, spread: 1}
		if *kernel != "" {
			b.kernels = strings.Split(*kernel, ",")
		}
		profiled(*profile, func() { find(*child)(b) })
	default:
		supervise(*only, *threads)
	}
}

// profiled calls f and writes a CPU profile to a file, if one is named.
func profiled(file string, f func()) {
	if file == "" {
		f()
		return
	}
	w := must(os.Create(file))
	must(0, pprof.StartCPUProfile(w))
	f()
	pprof.StopCPUProfile()
	must(0, w.Close())
}

func find(name string) func(*bench) {
	for _, w := range workloads {
		if w.name == name {
			return w.run
		}
	}
	fatal(fmt.Errorf("there is no workload %q", name))
	return nil
}

// supervise runs each workload with each setting in a process of its own.
func supervise(only, threads string) {
	self := must(os.Executable())
	failed := false
	for _, w := range workloads {
		if !wanted(w.name, only) {
			continue
		}
		for t := range strings.SplitSeq(threads, ",") {
			args := append([]string{"-child", w.name}, os.Args[1:]...)
			args = append(args, "-threads", t)
			b := bench{workload: w.name, threads: must(strconv.Atoi(t))}
			start, used := time.Now(), cpuBusy()
			cmd := exec.Command(self, args...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			err := cmd.Run()
			failed = failed || err != nil
			b.print("meta.other_cpu", round(otherCPU(used, cmd, time.Since(start)), 3), "cores", map[string]any{"exit": cmd.ProcessState.ExitCode()})
		}
	}
	if failed {
		os.Exit(1)
	}
}

func wanted(name, only string) bool {
	if only == "" {
		return true
	}
	for w := range strings.SplitSeq(only, ",") {
		if n, err := strconv.Atoi(w); err == nil {
			w = fmt.Sprintf("%02d", n)
		}
		if strings.HasPrefix(name, w) {
			return true
		}
	}
	return false
}

// cpuBusy returns the seconds that all processors together have worked, 0
// where the system does not tell.
func cpuBusy() float64 {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(strings.SplitN(string(data), "\n", 2)[0])
	busy := 0.0
	for i, s := range f[1:min(len(f), 9)] {
		v, _ := strconv.ParseFloat(s, 64)
		if i != 3 && i != 4 { // idle, waiting for a disk
			busy += v
		}
	}
	return busy / 100
}

// otherCPU returns how many processors something else used meanwhile.
func otherCPU(before float64, cmd *exec.Cmd, wall time.Duration) float64 {
	own := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return max(0, (cpuBusy()-before-own)/wall.Seconds())
}
