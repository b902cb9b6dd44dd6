package debug_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/debug"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/pb"
	"google.golang.org/protobuf/proto"
)

func init() {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	sick := vec(1, nan, -3, inf, 0, -inf, 2, nan, 0.5, -0.25)
	add := func(op, name string, x *core.Tensor, types []tf.DType, opts ...tf.Option) {
		addSamples(sample{Op: op, Name: name, In: []*core.Tensor{x}, F: optest.Applied(op, opts...), Types: types})
	}
	for _, op := range []string{"Copy", "CopyHost", "DebugIdentityV2"} {
		add(op, "", seq(2, 3), onlyOwn)
	}
	closed, named := tf.Attr("gated_grpc", true), tf.Attr("tensor_name", "x:1")
	add("DebugIdentity", "", seq(2, 3), onlyOwn, named)
	add("DebugNanCount", "", sick, nil, named)
	add("DebugNumericSummary", "", sick, nil, tf.Attr("tensor_name", "x"))
	add("DebugNumericSummary", "bounds", sick, onlyOwn, named, tf.Attr("lower_bound", float32(-1)), tf.Attr("upper_bound", float32(1)))
	add("DebugNumericSummary", "matrix", seq(3, 4), nil, named)
	add("DebugNumericSummary", "nothing", seq(0, 2), onlyOwn, named)
	add("DebugNumericSummary", "no numbers", vec(nan, inf), onlyOwn, named)
	addSamples(sample{Op: "DebugNanCount", Name: "closed", In: []*core.Tensor{sick}, F: optest.Applied("DebugNanCount", closed, named), Types: onlyOwn, NoGolden: "TensorFlow's shape function tells of one number"})
	for _, mode := range []int{debug.CurtHealth, debug.ConciseHealth, debug.FullHealth, debug.ShapeSummary, debug.ReduceInfNaNThreeSlot} {
		o := debug.DebugNumericSummaryV2Opts{Mode: mode, TensorID: 5}
		name := fmt.Sprintf("mode %d", mode)
		summary := func(o debug.DebugNumericSummaryV2Opts) func(*tf.Graph, []tf.Output) []tf.Output {
			return unary(debug.DebugNumericSummaryV2, o)
		}
		addSamples(
			sample{Op: "DebugNumericSummaryV2", Name: name, In: []*core.Tensor{sick}, F: summary(o)},
			sample{Op: "DebugNumericSummaryV2", Name: name + " matrix", In: []*core.Tensor{seq(2, 3, 1, 2, 1, 2, 1, 2)}, F: summary(o), Types: onlyOwn},
		)
		o.OutputType = tf.Float64
		addSamples(sample{Op: "DebugNumericSummaryV2", Name: name + " double", In: []*core.Tensor{seq(2, 3)}, F: summary(o), Types: onlyOwn})
	}
	failed := func(name string, mode, id int) {
		addSamples(failing("DebugNumericSummaryV2", name, unary(debug.DebugNumericSummaryV2, debug.DebugNumericSummaryV2Opts{Mode: mode, TensorID: id}), seq(2)))
	}
	failed("mode", 7, 0)
	failed("id", debug.CurtHealth, 1<<24+1)
	for _, name := range []string{"", "a:b:c", "a:b"} {
		addSamples(failing("DebugIdentity", "name "+name, optest.Applied("DebugIdentity", tf.Attr("tensor_name", name)), seq(2)))
	}
	unpublished := func(op, name string, opts ...tf.Option) {
		addSamples(sample{Op: op, Name: "bad " + name, In: []*core.Tensor{seq(2)}, F: optest.Applied(op, opts...), Fails: true, Types: onlyOwn, NoGolden: "TensorFlow publishes"})
	}
	unpublished("DebugIdentity", "url", named, tf.Attr("debug_urls", []string{"grpc://localhost:1"}))
	unpublished("DebugIdentity", "target", named, tf.Attr("debug_urls", []string{"nowhere"}))
	unpublished("DebugIdentity", "directory", named, tf.Attr("debug_urls", []string{"file:///dev/null/x"}))
	unpublished("DebugIdentityV2", "url", tf.Attr("debug_urls", []string{"file:///dumps"}))
}

func init() {
	const debugged = "its gradient in TensorFlow is for nodes with the names of its debugger"
	ref := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		v := ops.Assign(ops.VariableV2(in[0].Graph(), in[0].DType(), in[0].Shape()), in[0])
		return []tf.Output{ops.Identity(debug.DebugGradientRefIdentity(v))}
	}
	addSamples(
		sample{Op: "DebugGradientIdentity", In: []*core.Tensor{seq(2, 3)}, F: unary(debug.DebugGradientIdentity), NoGolden: debugged},
		sample{
			Op: "DebugGradientRefIdentity", In: []*core.Tensor{seq(2, 3)}, F: ref, NoGolden: debugged, Types: onlyOwn,
			GraphOnly: "reference variables are a matter of graphs", Static: "the variable's shape", Rough: "variables end gradients",
		},
	)
}

// TestDebugPublish reads what a signal writes, and finds nothing of one that is
// muted.
func TestDebugPublish(t *testing.T) {
	dir := t.TempDir()
	g := eager.New()
	x := ops.Const(g, []float32{1, float32(math.NaN())})
	at := []tf.Option{tf.Attr("device_name", "/job:a/task:0"), tf.Attr("tensor_name", "scope/x:1"), tf.Attr("debug_urls", []string{"file://" + dir})}
	for _, o := range []*tf.Operation{
		tf.Apply(g, "DebugNanCount", []tf.Output{x}, at...), tf.Apply(g, "DebugNanCount", []tf.Output{x}, at...),
		tf.Apply(g, "DebugNumericSummary", []tf.Output{ops.Const(g, []float32{1})}, append(at, tf.Attr("mute_if_healthy", true))...),
	} {
		if o.Err() != nil {
			t.Fatal(o.Err())
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "_tfdbg_device_,job_a,task_0", "scope", "x_1_*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var event pb.Event
	if err := proto.Unmarshal(data, &event); err != nil {
		t.Fatal(err)
	}
	v := event.GetSummary().GetValue()[0]
	count, err := core.TensorFromProto(v.GetTensor())
	if err != nil || core.Data[int64](count)[0] != 1 || v.GetNodeName() != "scope/x:1:DebugNanCount" || !strings.Contains(string(v.GetMetadata().GetPluginData().GetContent()), `"outputSlot":1`) {
		t.Errorf("%v, %v", v, err)
	}
}
