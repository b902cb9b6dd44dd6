package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	events "github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/train"
)

// boardPython is a Python that has tensorboard 2.21.0: GORGE_TB_PYTHON, or that of
// TensorFlow.
func boardPython() string {
	if p := os.Getenv("GORGE_TB_PYTHON"); p != "" {
		return p
	}
	return python
}

// boardRun trains with summaries of every kind, a trace and hyperparameters.
func boardRun(t *testing.T, dir string, rate float64) {
	t.Helper()
	w, err := events.NewFileWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.HParams(map[string]any{"rate": rate, "optimizer": "sgd", "nesterov": false}, ""); err != nil {
		t.Fatal(err)
	}
	charts := []events.Chart{{Title: "loss", Tags: []string{"net/.*"}}, {Title: "bounds", Margins: []events.Margin{{Value: "net/loss", Lower: "low", Upper: "high"}}}}
	if err := w.Layout(events.ChartCategory{Title: "all", Charts: charts, Closed: true}); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph(tf.Strict())
	v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}), tf.VariableOptions{Name: "weights"})
	loss := v.Value().Square().Sum()
	g.Scope("net", func() { summary.Scalar("loss", loss) })
	summary.Histogram("histogram", v.Value())
	points := tf.NewVariable(ops.Constant(g, spiral()), tf.VariableOptions{Name: "points", NotTrainable: true})
	summary.Image("picture", ops.Reshape(points.Value(), ops.Const(g, []int32{1, 8, 5, 3})), 1)
	summary.Audio("sound", ops.Reshape(ops.Constant(g, tone()), ops.Const(g, []int32{1, -1, 1})), 8000, 1)
	summary.Text("note", ops.Scalar(g, "some **text**"))
	summary.PRCurve("curve", ops.Const(g, []bool{true, false, true, false, true}), ops.Const(g, []float32{0.9, 0.7, 0.6, 0.3, 0.2}), 11)
	op := train.Minimize(train.GradientDescent{LearningRate: rate}, loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(g)})
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 4, SaveSummariesSteps: 1, LogStepCountSteps: 3,
		Hooks: []train.Hook{&train.StopAtStepHook{LastStep: 8}, &train.ProfilerHook{SaveSteps: 5, OutputDir: dir}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if err := w.EndHParams(true); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	labels := filepath.Join(dir, "labels.tsv")
	if err := os.WriteFile(labels, []byte(strings.Repeat("first\nsecond\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&events.Projector{Embeddings: []events.Embedding{{TensorName: "points", MetadataPath: labels}}}).Write(dir); err != nil {
		t.Fatal(err)
	}
}

// spiral returns 40 points in space.
func spiral() [][]float32 {
	p := make([][]float32, 40)
	for i := range p {
		at := float64(i) / 6
		p[i] = []float32{float32(math.Cos(at)), float32(math.Sin(at)), float32(i) / 20}
	}
	return p
}

// tone returns half a second of 440 Hz at 8000 samples per second.
func tone() []float32 {
	x := make([]float32, 4000)
	for i := range x {
		x[i] = float32(0.5 * math.Sin(2*math.Pi*440*float64(i)/8000))
	}
	return x
}

// A board is a TensorBoard.
type board struct {
	t       *testing.T
	address string
}

// newBoard starts a TensorBoard, which ends with the test. It has read all files when it
// answers.
func newBoard(t *testing.T, dir string) *board {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, boardPython(), "-m", "tensorboard.main", "--logdir="+dir, "--host=127.0.0.1", "--port=0",
		"--load_fast=false", "--reload_task=blocking", "--reload_interval=0", "--samples_per_plugin=images=100")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var said strings.Builder
	at := regexp.MustCompile(`TensorBoard 2\.21\.\d+ at (http://127\.0\.0\.1:\d+)/`)
	for r := bufio.NewScanner(errs); r.Scan(); {
		if m := at.FindStringSubmatch(r.Text()); m != nil {
			go io.Copy(io.Discard, errs)
			return &board{t, m[1]}
		}
		said.WriteString(r.Text() + "\n")
	}
	t.Fatalf("TensorBoard did not start:\n%s", lastLines(said.String(), 15))
	return nil
}

// ask returns the answer of a plugin to a request, whose body is given if it is posted.
func (b *board) ask(plugin, what string, args url.Values, body string) []byte {
	b.t.Helper()
	at := b.address + "/data/plugin/" + plugin + "/" + what + "?" + args.Encode()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.t.Errorf("%s: %s, %v: %s", at, res.Status, err, out)
	}
	return out
}

// json is ask for an answer in JSON.
func (b *board) json(to any, plugin, what string, args url.Values, body string) {
	b.t.Helper()
	if text := b.ask(plugin, what, args, body); json.Unmarshal(text, to) != nil {
		b.t.Errorf("%s/%s answers %s", plugin, what, text)
	}
}

// TestTensorBoard shows the real TensorBoard what hooks, summaries and writers have
// written, and asks it for all of it.
func TestTensorBoard(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	boardRun(t, filepath.Join(dir, "slow"), 0.05)
	boardRun(t, filepath.Join(dir, "fast"), 0.1)
	b := newBoard(t, dir)
	b.curves()
	b.media()
	b.graph()
	b.hparams()
	b.layout()
	if to := os.Getenv("GORGE_SCREENSHOTS"); to != "" {
		b.pages(to)
	}
}

// pages takes pictures of TensorBoard's pages with a Chromium, for people to look at.
func (b *board) pages(to string) {
	b.t.Helper()
	for _, page := range []string{"timeseries", "scalars", "images", "audio", "graphs", "distributions", "histograms", "text", "pr_curves", "hparams", "projector"} {
		file := filepath.Join(to, page+".png")
		ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
		cmd := exec.CommandContext(ctx, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+b.t.TempDir(),
			"--window-size=1400,1000", "--virtual-time-budget=20000", "--screenshot="+file, b.address+"/?runFilter=.*&darkMode=false#"+page)
		out, err := cmd.CombinedOutput()
		cancel()
		if err == nil {
			err = shows(file)
		}
		if err != nil {
			b.t.Errorf("%s: %v\n%s", page, err, lastLines(string(out), 5))
		}
	}
}

// shows returns an error unless a file is a picture of more than a few colours.
func shows(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		return err
	}
	colours := map[any]bool{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y += 3 {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x += 3 {
			colours[m.At(x, y)] = true
		}
	}
	if len(colours) < 20 {
		return fmt.Errorf("%s has %d colours", file, len(colours))
	}
	return nil
}

// run1 names one of the runs and a tag of it.
func run1(tag string) url.Values { return url.Values{"run": {"fast"}, "tag": {tag}} }

// curves asks for numbers.
func (b *board) curves() {
	b.t.Helper()
	var tags map[string]map[string]any
	b.json(&tags, "scalars", "tags", nil, "")
	for _, run := range []string{"fast", "slow"} {
		for _, tag := range []string{"net/loss", "global_step/sec"} {
			if _, ok := tags[run][tag]; !ok {
				b.t.Errorf("scalars of %s: %v lack %s", run, tags, tag)
			}
		}
	}
	var points [][3]float64 // time, step, value
	b.json(&points, "scalars", "scalars", run1("net/loss"), "")
	loss := 14.0
	if len(points) != 8 {
		b.t.Fatalf("the curve of the loss has %d points: %v", len(points), points)
	}
	for i, p := range points { // of 8 steps, the first of which has step 1
		if p[1] != float64(i+1) || p[2] < loss*0.999 || p[2] > loss*1.001 {
			b.t.Errorf("point %d of the loss is %v, want %v", i, p, loss)
		}
		loss *= 0.64
	}
	var raw []json.RawMessage
	b.json(&raw, "histograms", "histograms", run1("histogram"), "")
	if len(raw) != 8 || !bytes.Contains(raw[0], []byte("[")) {
		b.t.Errorf("histograms: %s", raw)
	}
	raw = nil
	b.json(&raw, "distributions", "distributions", run1("histogram"), "")
	if len(raw) != 8 {
		b.t.Errorf("distributions: %s", raw)
	}
	var curves map[string][]struct {
		Precision, Recall, Thresholds []float64
		Step                          int
	}
	b.json(&curves, "pr_curves", "pr_curves", run1("curve/pr_curves"), "")
	if len(curves["fast"]) != 8 {
		b.t.Fatalf("PR curves: %v", curves)
	}
	// Of the predictions above 0.5 two of three are right, and two of three are found.
	for i, p := range curves["fast"][0].Precision {
		at := curves["fast"][0].Thresholds[i]
		if r := curves["fast"][0].Recall[i]; math.Abs(at-0.5) < 1e-6 && (math.Abs(p-2./3) > 1e-6 || math.Abs(r-2./3) > 1e-6) {
			b.t.Errorf("at threshold %v precision %v and recall %v, want 2/3", at, p, r)
		}
	}
	if !slices.ContainsFunc(curves["fast"][0].Thresholds, func(at float64) bool { return math.Abs(at-0.5) < 1e-6 }) {
		b.t.Errorf("no threshold of 0.5: %v", curves["fast"][0])
	}
}

// layout asks for the charts of the custom scalars, and for what a chart shows.
func (b *board) layout() {
	b.t.Helper()
	type series struct{ Value, Lower, Upper string }
	var layout struct {
		Category []struct {
			Title  string
			Closed bool
			Chart  []struct {
				Title     string
				Multiline struct{ Tag []string }
				Margin    struct{ Series []series }
			}
		}
	}
	b.json(&layout, "custom_scalars", "layout", nil, "")
	if len(layout.Category) != 1 || len(layout.Category[0].Chart) != 2 {
		b.t.Fatalf("the layout of custom scalars: %+v", layout)
	}
	all := layout.Category[0]
	if lines := all.Chart[0].Multiline.Tag; all.Title != "all" || !all.Closed || all.Chart[0].Title != "loss" || !slices.Equal(lines, []string{"net/.*"}) {
		b.t.Errorf("the layout of custom scalars: %+v", layout)
	}
	if margin := all.Chart[1].Margin.Series; !slices.Equal(margin, []series{{"net/loss", "low", "high"}}) {
		b.t.Errorf("margins: %+v", margin)
	}
	var shown struct {
		RegexValid bool                         `json:"regex_valid"`
		Tags       map[string][]json.RawMessage `json:"tag_to_events"`
	}
	b.json(&shown, "custom_scalars", "scalars", url.Values{"run": {"fast"}, "tag": {"net/.*"}}, "")
	if !shown.RegexValid || len(shown.Tags["net/loss"]) != 8 {
		b.t.Errorf("a chart of custom scalars shows %+v", shown)
	}
}

// query returns the arguments of a link that TensorBoard has answered.
func query(text string) url.Values {
	v, _ := url.ParseQuery(text)
	return v
}

// media asks for images, sounds and texts.
func (b *board) media() {
	b.t.Helper()
	var images, sounds []struct{ Query string }
	args := run1("picture/image")
	args.Set("sample", "0")
	b.json(&images, "images", "images", args, "")
	if len(images) != 8 {
		b.t.Fatalf("images: %v", images)
	}
	picture, err := png.Decode(bytes.NewReader(b.ask("images", "individualImage", query(images[0].Query), "")))
	if err != nil || picture.Bounds().Dx() != 5 || picture.Bounds().Dy() != 8 {
		b.t.Error(picture, err)
	}
	args = run1("sound/audio")
	args.Set("sample", "0")
	b.json(&sounds, "audio", "audio", args, "")
	if len(sounds) == 0 {
		b.t.Fatal("there is no sound")
	}
	if wav := b.ask("audio", "individualAudio", query(sounds[0].Query), ""); !bytes.HasPrefix(wav, []byte("RIFF")) || len(wav) < 8000 {
		b.t.Errorf("a sound begins with %.20q", wav)
	}
	var texts []struct{ Text string }
	b.json(&texts, "text", "text", run1("note"), "")
	if len(texts) == 0 || !strings.Contains(texts[0].Text, "<strong>text</strong>") {
		b.t.Errorf("texts: %v", texts)
	}
}

// graph asks for the graph, the trace of a step and the embeddings.
func (b *board) graph() {
	b.t.Helper()
	var info map[string]struct {
		Run_graph bool
		Tags      map[string]struct{ Profile bool }
	}
	b.json(&info, "graphs", "info", nil, "")
	if !info["fast"].Run_graph {
		b.t.Errorf("graphs: %v", info)
	}
	text := b.ask("graphs", "graph", url.Values{"run": {"fast"}, "conceptual": {"false"}}, "")
	for _, name := range []string{`name: "weights"`, `name: "net/loss`, `op: "VarHandleOp"`} {
		if !bytes.Contains(text, []byte(name)) {
			b.t.Errorf("the graph lacks %s: %.300s", name, text)
		}
	}
	traced := ""
	for tag, what := range info["fast"].Tags {
		if what.Profile {
			traced = tag
		}
	}
	if traced == "" {
		b.t.Fatalf("no trace of a step: %v", info)
	}
	if stats := b.ask("graphs", "run_metadata", run1(traced), ""); !bytes.Contains(stats, []byte("dev_stats")) {
		b.t.Errorf("the trace of a step: %.300s", stats)
	}
	var embeddings struct{ Embeddings []embedding }
	b.json(&embeddings, "projector", "info", url.Values{"run": {"fast"}}, "")
	k := slices.IndexFunc(embeddings.Embeddings, func(e embedding) bool { return e.TensorName == "points" })
	if k < 0 || !slices.Equal(embeddings.Embeddings[k].TensorShape, []int{40, 3}) {
		b.t.Errorf("embeddings: %v", embeddings)
	}
	args := url.Values{"run": {"fast"}, "name": {"points"}}
	var want bytes.Buffer
	for _, p := range spiral() {
		if err := binary.Write(&want, binary.LittleEndian, p); err != nil {
			b.t.Fatal(err)
		}
	}
	if got := b.ask("projector", "tensor", args, ""); !bytes.Equal(got, want.Bytes()) {
		b.t.Errorf("the projector has %d bytes of points, want %d", len(got), want.Len())
	}
	if got := b.ask("projector", "metadata", args, ""); !bytes.HasPrefix(got, []byte("first\nsecond\n")) {
		b.t.Errorf("labels of points: %.40q", got)
	}
}

// An embedding is what the projector says of one.
type embedding struct {
	TensorName  string
	TensorShape []int
}

// hparams asks for the tables of hyperparameters.
func (b *board) hparams() {
	b.t.Helper()
	var experiment struct {
		HparamInfos []struct{ Name string }
	}
	b.json(&experiment, "hparams", "experiment", nil, `{"experimentName": ""}`)
	names := map[string]bool{}
	for _, h := range experiment.HparamInfos {
		names[h.Name] = true
	}
	if len(names) != 3 || !names["rate"] || !names["optimizer"] || !names["nesterov"] {
		b.t.Errorf("hyperparameters: %v", experiment)
	}
	var groups struct {
		SessionGroups []struct {
			Hparams  map[string]any
			Sessions []struct{ Status string }
		}
	}
	b.json(&groups, "hparams", "session_groups", nil,
		`{"experimentName": "", "allowedStatuses": ["STATUS_SUCCESS", "STATUS_UNKNOWN", "STATUS_FAILURE", "STATUS_RUNNING"], "colParams": [{"hparam": "rate"}], "startIndex": 0, "sliceSize": 10}`)
	rates := map[string]bool{}
	for _, s := range groups.SessionGroups {
		rates[fmt.Sprint(s.Hparams["rate"], s.Hparams["optimizer"], s.Sessions[0].Status)] = true
	}
	if len(rates) != 2 || !rates["0.1 sgd STATUS_SUCCESS"] && !rates["0.1sgdSTATUS_SUCCESS"] {
		b.t.Errorf("runs of hyperparameters: %v from %v", rates, groups)
	}
}
