package parsing

import (
	"github.com/gorge-tf/gorge/internal/sample"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/example"
)

func init() {
	for op, keys := range map[string]keysOf{"ParseExample": firstKeys, "ParseExampleV2": secondKeys, "ParseSingleExample": attrKeys} {
		sample.Register(keys.sample, op)
	}
}

// maxSample bounds the values of a feature.
const maxSample = 1 << 16

// sample returns an example with all features that a node parses: zeros and empty
// strings, as many as dense features want, one for others.
func (k keysOf) sample(n *core.Node, in sample.Inputs) (string, bool) {
	known := &knownInputs{from: in}
	dense, sparse, ragged, _, err := k(n, known)
	if err != nil || known.missing {
		return "", false
	}
	e := example.Example{}
	shapes, _ := n.Attr("dense_shapes").([]tf.Shape)
	ok := add(e, dense, n.TypesAttr("Tdense"), func(i int) int { return sampleSize(shapes, i) }) &&
		add(e, sparse, n.TypesAttr("sparse_types"), one)
	if ok && len(ragged) > 0 {
		ok = add(e, ragged, n.TypesAttr("ragged_value_types"), one)
	}
	return string(e.Marshal()), ok
}

func one(int) int { return 1 }

// sampleSize is how many values dense feature i has in an example, one part if its first
// size is open; -1 if there is no such number, or a large one.
func sampleSize(shapes []tf.Shape, i int) int {
	if i >= len(shapes) {
		return -1
	}
	s := shapes[i].Clone()
	if len(s) > 0 && s[0] < 0 {
		s[0] = 1
	}
	if !s.Known() || core.CheckSize(tf.String, s) != nil || s.NumElements() > maxSample {
		return -1
	}
	return s.NumElements()
}

// add adds features of the given types with size(i) values. It reports whether it could.
func add(e example.Example, keys []string, types []tf.DType, size func(i int) int) bool {
	if len(keys) != len(types) {
		return false
	}
	for i, key := range keys {
		n := size(i)
		if n < 0 {
			return false
		}
		switch types[i] {
		case tf.Float32:
			e[key] = example.Floats(make([]float32, n)...)
		case tf.Int64:
			e[key] = example.Ints(make([]int64, n)...)
		default:
			e[key] = example.Strings(make([]string, n)...)
		}
	}
	return true
}

// knownInputs has a tensor without elements for each input that is not known.
type knownInputs struct {
	from    sample.Inputs
	missing bool
}

// Input returns a vector of strings or a scalar.
func (k *knownInputs) Input(i int) *core.Tensor {
	if t := k.from.Input(i); t != nil && t.DType() == tf.String {
		return t
	}
	k.missing = true
	return core.NewTensor(tf.String, tf.Shape{0})
}
