package initializers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A variable begins with the numbers of a slice.
func ExampleValues() {
	g := eager.New()
	w := vars.Get(g, "w", tf.Shape{2, 2}, vars.Options{Initializer: initializers.Values([]float32{1, 2, 3, 4})})
	fmt.Println(w.Value().Value())
	// Output: float32[2,2]{1, 2, 3, 4} <nil>
}

// TestValues has what TensorFlow's constant initializer makes of lists.
func TestValues(t *testing.T) {
	for i, c := range []struct {
		init initializers.Initializer
		d    tf.DType
		s    tf.Shape
		want string
	}{
		{initializers.Values([]float64{1, 2, 3}), tf.Float32, tf.Shape{4}, "float32[4]{1, 2, 3, 3}"},
		{initializers.Values([]int{1, 2, 3, 4}), tf.Float32, tf.Shape{2, 2}, "float32[2,2]{1, 2, 3, 4}"},
		{initializers.Values([]float32{}), tf.Int64, tf.Shape{2}, "int64[2]{0, 0}"},
		{initializers.Values([]float32{7}), tf.Float64, tf.Shape{}, "float64[]{7}"},
		{initializers.Values([]string{"a"}), tf.String, tf.Shape{2}, `string[2]{"a", "a"}`},
		{initializers.Values([]bool{true, false}), tf.Float32, tf.Shape{2}, "float32[2]{1, 0}"},
		{initializers.Values([]float32{1, 2}), tf.Int32, tf.Shape{2}, "int32[2]{1, 2}"},
		{initializers.Values([]float32{1, 2, 3}), tf.Float32, tf.Shape{2}, "Too many elements provided. Takes at most 2, but got 3."},
		{initializers.Values([]float32{1, 2}), tf.Float32, tf.Shape{}, "Too many elements provided. Takes at most 1, but got 2."},
		{initializers.Values([]float64{1.5, 2}), tf.Int32, tf.Shape{2, 2}, "Expected int32, but got 1.5 of type 'float64'."},
		{initializers.Values([]string{"a"}), tf.Float32, tf.Shape{2}, "Expected float32, but got a of type 'string'."},
		{initializers.Values([]int32{1, 0}), tf.Bool, tf.Shape{2}, "Expected bool, but got 1 of type 'int32'."},
	} {
		x, err := c.init(eager.New(), c.d, c.s).Value()
		if got := fmt.Sprint(x); err == nil && got != c.want || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "values_test.go:")) {
			t.Errorf("%d: %s %v, want %s", i, got, err, c.want)
		}
	}
	if err := initializers.Values([]int{1})(nil, tf.Int32, tf.Shape{}).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

// TestValuesOfParts: each part has its own.
func TestValuesOfParts(t *testing.T) {
	g := eager.New()
	vars.Scope(g, "s", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		p := vars.GetPartitioned(g, "w", tf.Shape{3, 2}, vars.Options{Initializer: initializers.Values([]float32{1, 2, 3, 4, 5, 6})})
		if x, err := p.Value().Value(); err != nil || fmt.Sprint(x) != "float32[3,2]{1, 2, 3, 4, 5, 6}" {
			t.Error(x, err)
		}
	})
}
