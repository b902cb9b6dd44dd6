package savedmodel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/riegeli/riegelitest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// message appends fields of TensorFlow's chunk.proto: numbers as varints, strings as
// messages.
func message(fields ...any) string {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		n := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), v)
		}
	}
	return string(b)
}

func field(n int) string { return message(1, message(1, n)) }
func at(i int) string    { return message(1, message(3, i)) }
func key(k string) string {
	return message(1, message(2, message(1, k)))
}

// chunk is a ChunkedField: the chunk of an index, at tags.
func chunk(index int, tags ...string) string {
	return message(2, strings.Join(tags, "")+message(3, message(1, index)))
}

// chunkedFile writes chunks, and a last record that says what they make. Chunks of an
// even index are in a record file's chunk of their own.
func chunkedFile(t *testing.T, chunks []string, root string) string {
	t.Helper()
	var f riegelitest.File
	meta := message(1, message(1, 1))
	for i, c := range chunks {
		meta += message(2, message(1, 1, 2, len(c), 3, int(f.Chunk([]byte{0, 'b'}[i%2], []byte(c)))))
	}
	f.Chunk('b', []byte(meta+message(3, root)))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "saved_model.cpb"), f.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestChunked cuts a model into chunks as TensorFlow does: nodes, functions and the
// contents of constants.
func TestChunked(t *testing.T) {
	whole := saved(t)
	want, err := savedmodel.Read(whole)
	if err != nil {
		t.Fatal(err)
	}
	left := proto.Clone(want).(*pb.SavedModel)
	g := left.GetMetaGraphs()[0].GetGraphDef()
	constant := -1
	for i, n := range g.GetNode() {
		if n.GetOp() == "Const" && len(n.GetAttr()["value"].GetTensor().GetTensorContent()) > 0 {
			constant = i
		}
	}
	if constant < 0 {
		t.Fatal("the model must have a constant with contents")
	}
	value := g.GetNode()[constant].GetAttr()["value"].GetTensor()
	content := string(value.GetTensorContent())
	value.TensorContent = nil
	half := len(g.GetNode()) / 2
	marshal := func(m proto.Message) string {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, second := marshal(&pb.GraphDef{Node: g.GetNode()[:half]}), marshal(&pb.GraphDef{Node: g.GetNode()[half:]})
	g.Node = nil
	graph := []string{field(2), at(0), field(2)}
	tensor := append(graph[:3:3], field(1), at(constant), field(5), key("value"), field(8))
	root := message(1, 0) +
		chunk(3, append(tensor, field(4))...) + // sorted behind what holds it
		chunk(1, graph...) + chunk(2, graph...)
	dir := chunkedFile(t, []string{marshal(left), first, second, content}, root)
	got, err := savedmodel.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Error("the chunks do not make the model")
	}
	for _, name := range []string{"variables", "assets"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(whole, name))); err != nil {
			t.Fatal(err)
		}
	}
	if got := look(t, load(t, dir), map[string]any{"x": []string{"one"}}); got[0] != 6.5 {
		t.Errorf("the model computes %v", got)
	}
}

func TestChunkedRefused(t *testing.T) {
	model := message(1, 1, 2, message(1, message(1, "x")))
	for name, c := range map[string]struct{ root, want string }{
		"no such chunk":       {message(1, 7), "indices below 2"},
		"twice":               {message(1, 0) + chunk(0), "used once"},
		"no such field":       {message(1, 0) + chunk(1, field(99)), "number 99 not found"},
		"not a message":       {message(1, 0) + chunk(1, field(1), field(1)), "must be a message"},
		"a number":            {message(1, 0) + chunk(1, field(1)), "messages or bytes"},
		"an index alone":      {message(1, 0) + chunk(1, at(0)), "must follow"},
		"an index far behind": {message(1, 0) + chunk(1, field(2), at(1_000_000_000), field(2)), "in their order"},
		"a list without":      {message(1, 0) + chunk(1, field(2)), "in their order"},
		"a key of a type":     {message(1, 0) + chunk(1, field(2), at(0), field(5), at(3)), "keys of"},
		"too deep":            {deep(200), "deep"},
		"no message":          {"\xff", "Can't read"},
	} {
		_, err := savedmodel.Read(chunkedFile(t, []string{model, "\x08"}, c.root))
		if tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// deep returns a message within messages.
func deep(n int) string {
	out := message(1, 0)
	for range n {
		out = message(2, message(3, out))
	}
	return out
}

// TestChunkedDamage: a file that is cut off anywhere, or is another one, is an error.
func TestChunkedDamage(t *testing.T) {
	dir := chunkedFile(t, []string{message(1, 1, 2, message(1, message(1, "x")))}, message(1, 0))
	name := filepath.Join(dir, "saved_model.cpb")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := savedmodel.Read(dir); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := savedmodel.Read(dir); tf.CodeOf(err) != tf.DataLoss {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}
