package vars_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestComplexNeedsAnInitializer: zeros, where none is given, would be weights that cannot learn.
func TestComplexNeedsAnInitializer(t *testing.T) {
	g := tf.NewGraph()
	vars.Get(g, "bare", tf.Shape{2, 2}, vars.Options{DType: tf.Complex64})
	if err := g.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "initializer is required") {
		t.Errorf("got %v", err)
	}

	g = tf.NewGraph()
	vars.Get(g, "zeros", tf.Shape{2, 2}, vars.Options{DType: tf.Complex64, Initializer: initializers.Zeros})
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
