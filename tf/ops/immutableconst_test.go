package ops_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	constant := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, _ []tf.Output) []tf.Output {
			return []tf.Output{ops.ImmutableConst(g, d, tf.Shape{2}, "/nowhere/at all")}
		}
	}
	resource := failing("ImmutableConst", "resource", constant(tf.Resource))
	resource.NoGolden = "a handle cannot be fetched"
	addSamples(failing("ImmutableConst", "file", constant(tf.Float32)), resource)
}

// TestImmutableConst reads numbers out of a file.
func TestImmutableConst(t *testing.T) {
	want := seq(2, 3)
	path := filepath.Join(t.TempDir(), "region")
	if err := os.WriteFile(path, append(want.Buffer().Bytes(), 1, 2, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	g := eager.New()
	for _, name := range []string{path, "file://" + path} {
		got, err := ops.ImmutableConst(g, tf.Float32, tf.Shape{2, 3}, name).Value()
		if err != nil {
			t.Fatal(err)
		}
		if diff := optest.Differ((*core.Tensor)(got), want, 0); diff != "" {
			t.Error(diff)
		}
	}
	for want, x := range map[tf.Code]tf.Output{
		tf.Internal:      ops.ImmutableConst(g, tf.Float32, tf.Shape{1 << 20}, path),
		tf.Unimplemented: ops.ImmutableConst(g, tf.String, tf.Shape{1}, path),
	} {
		if _, err := x.Value(); tf.CodeOf(err) != want {
			t.Errorf("got %v, want code %v", err, want)
		}
	}
}
