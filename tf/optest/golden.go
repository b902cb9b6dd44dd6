package optest

import (
	"bytes"
	"compress/gzip"
	little "encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

var (
	export = flag.String("export", "", "write samples to this directory, for golden.py to run in TensorFlow")
	family = flag.String("family", ".*", "export the samples of the test files, less _test.go, that this matches")
)

// golden is what TensorFlow computed, by names "trial:output", "trial!error"
// and "trial:gradN", and its definitions by "signature op".
type golden map[string]*core.Tensor

// openGolden reads the files testdata/golden/*.bin.
func openGolden(t *testing.T, files fs.FS) golden {
	t.Helper()
	all := golden{}
	if files == nil {
		return all
	}
	names, err := fs.Glob(files, "testdata/golden/*.bin")
	for _, name := range names {
		err = errors.Join(err, all.read(files, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read adds the values in one file.
func (g golden) read(files fs.FS, name string) error {
	file, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	data, err := io.ReadAll(z)
	for err == nil && len(data) > 4 {
		n := little.LittleEndian.Uint32(data)
		var p pb.NamedTensorProto
		if err = proto.Unmarshal(data[4:4+n], &p); err == nil {
			g[p.GetName()], err = core.TensorFromProto(p.GetTensor())
		}
		data = data[4+n:]
	}
	return err
}

// of returns a value of TensorFlow's.
func (g golden) of(t *testing.T, name string) *core.Tensor {
	if g[name] == nil {
		t.Errorf("no golden value %s: run golden.py", name)
	}
	return g[name]
}

// testWant compares with what the sample says, which is about its own types.
func (c *trial) testWant(t *testing.T, got []*core.Tensor) {
	if c.id != c.Sample.id() {
		return
	}
	if len(got) != len(c.Want) {
		t.Errorf("%d outputs, want %d", len(got), len(c.Want))
		return
	}
	for i, want := range c.Want {
		if diff := Differ(got[i], want, c.Tol); diff != "" {
			t.Errorf("output %d is not what the sample wants: %s", i, diff)
		}
	}
}

func (c *trial) testGolden(t *testing.T, got []*core.Tensor) {
	if c.own() {
		c.testWant(t, got)
		return
	}
	if c.NoGolden != "" || c.untyped("!refused") {
		return
	}
	for i := range got {
		want := c.golden.of(t, fmt.Sprintf("%s:%d", c.id, i))
		if want == nil {
			continue
		}
		y := got[i]
		if y.DType() != want.DType() && storage[y.DType()] == want.DType() {
			y, _ = y.Bits(want.DType()) // numpy knows no quantized types
		}
		if diff := Differ(y, want, c.tolFor(want.DType())); diff != "" {
			t.Errorf("output %d differs from TensorFlow's: %s", i, diff)
		}
	}
}

var storage = map[tf.DType]tf.DType{tf.QInt8: tf.Int8, tf.QInt16: tf.Int16, tf.QInt32: tf.Int32, tf.QUint8: tf.Uint8, tf.QUint16: tf.Uint16}

// untyped reports whether TensorFlow has no kernel (or gradient) for the type
// that the trial has been given instead of its sample's own.
func (c *trial) untyped(mark string) bool {
	return c.id != c.Sample.id() && c.golden[c.id+mark] != nil
}

// tolFor returns the sample's tolerance, which is for its own type.
func (c *trial) tolFor(d tf.DType) float64 {
	if c.Tol > tolerances[d] {
		return c.Tol
	}
	return 0
}

func (c *trial) testGoldenError(t *testing.T, got string) {
	if c.own() {
		if !strings.Contains(got, c.Refused) {
			t.Errorf("the error must contain %q, got %s", c.Refused, got)
		}
		return
	}
	if c.NoGolden != "" {
		return
	}
	want := c.golden.of(t, c.id+"!error")
	if want == nil {
		return
	}
	if msg := core.Data[string](want)[0]; got != msg {
		t.Errorf("error differs from TensorFlow's:\n got %s\nwant %s", got, msg)
	}
}

// An exported trial, as golden.py reads it.
type exported struct {
	ID        string   `json:"id"`
	Family    string   `json:"family"`
	Outputs   []string `json:"outputs"`
	Fails     bool     `json:"fails"`
	Inputs    []string `json:"inputs"`    // to differentiate for
	GradOf    []string `json:"grad_of"`   // outputs to differentiate
	Signature string   `json:"signature"` // op whose definition to write
}

// testExport writes the samples for TensorFlow: to the directory of -export, or
// only to see that all of them can be written.
func testExport(t *testing.T, s *suite) {
	dir := *export
	if dir == "" {
		dir = t.TempDir()
	}
	chosen, err := regexp.Compile("^(" + *family + ")$")
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	var list []exported
	for i, c := range s.trials() {
		if c.own() || c.NoGolden != "" || !chosen.MatchString(c.family) {
			continue
		}
		g.Scope(fmt.Sprintf("c%d", i), func() { list = append(list, c.exported(t, g)) })
	}
	for op, family := range s.families() {
		if chosen.MatchString(family) {
			list = append(list, exported{Signature: op, Family: family})
		}
	}
	def, err := g.MarshalGraphDef()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "graph.pb"), def)
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "cases.json"), data)
}

// families returns by op the family that has its first sample.
func (s *suite) families() map[string]string {
	of := map[string]string{}
	for _, op := range s.ops {
		of[op] = "unsampled"
	}
	for i := len(samples) - 1; i >= 0; i-- {
		of[samples[i].Op] = samples[i].family
	}
	return of
}

func (c *trial) exported(t *testing.T, g *tf.Graph) exported {
	input := known(g)
	if c.Static == "" && (c.Fails || c.id != c.Sample.id()) {
		input = unknown(g) // shape functions of TensorFlow's abort for some types
	}
	in, out, err := c.build(g, input)
	if err != nil {
		t.Fatalf("%s: %v", c.id, err)
	}
	e := exported{ID: c.id, Family: c.family, Fails: c.Fails}
	for _, y := range visible(out) {
		e.Outputs = append(e.Outputs, y.Name())
	}
	if c.differentiable() {
		e.Inputs, e.GradOf = names(inexact(in)), names(inexact(out))
	}
	return e
}

func names(xs []tf.Output) (out []string) {
	for _, x := range xs {
		out = append(out, x.Name())
	}
	return out
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
