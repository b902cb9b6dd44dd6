package restjson

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestDeepest: a tensor has at most 254 dimensions.
func TestDeepest(t *testing.T) {
	one := types(map[string]tf.DType{"x": tf.Float32})
	for _, n := range []int{254, 255, 290} {
		for _, key := range []string{"inputs", "instances"} {
			_, err := ParsePredict([]byte(`{"`+key+`": `+strings.Repeat("[", n)+"1"+strings.Repeat("]", n)+"}"), one)
			if n <= 254 && err != nil || n > 254 && tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%s of %d dimensions: %v", key, n, err)
			}
		}
	}
}
