package serving

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestChoicesOfSignatures asks for many sets of signatures at once: each request gets
// what it asks for, and the version does not keep a step for each.
func TestChoicesOfSignatures(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	outs := map[string]tf.Output{}
	for i := range 7 {
		outs[fmt.Sprint(i)] = ops.Add(x, ops.Scalar(g, float32(i)))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir() + "/model"
	if err := savedmodel.SimpleSave(t.Context(), s, dir, map[string]tf.Output{"x": x}, outs); err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	v := &servable{m: m, multi: map[string]*session.Callable{}}
	for set := 1; set < 1<<len(outs); set++ {
		var names []string
		for i := range len(outs) {
			if set&(1<<i) != 0 {
				names = append(names, outs[fmt.Sprint(i)].Name())
			}
		}
		c, done, err := v.callable([]string{"x:0"}, names)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Run(t.Context(), tf.Scalar(float32(0))); err != nil || len(got) != len(names) {
			t.Fatalf("%q: %v, %v", names, got, err)
		}
		done()
	}
	if len(v.multi) > maxMulti {
		t.Errorf("the version keeps %d steps", len(v.multi))
	}
}
