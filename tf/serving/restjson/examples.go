package restjson

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// ParseExamples reads the body of a request :classify or :regress. Signature is ""
// if the body names none. All errors are InvalidArgument.
func ParseExamples(body []byte) (signature string, in *servingpb.Input, err error) {
	d, err := parse(body)
	if err != nil {
		return "", nil, err
	}
	if signature, err = d.signature(); err != nil {
		return "", nil, err
	}
	in, err = d.input()
	return signature, in, err
}

func (d *document) input() (*servingpb.Input, error) {
	var shared *pb.Example
	if n := d.member(0, "context"); n != 0 {
		var err error
		if shared, err = d.example(n); err != nil {
			return nil, err
		}
	}
	examples, err := d.examples()
	if err != nil {
		return nil, err
	}
	if shared != nil {
		return &servingpb.Input{Kind: &servingpb.Input_ExampleListWithContext{
			ExampleListWithContext: &servingpb.ExampleListWithContext{Examples: examples, Context: shared},
		}}, nil
	}
	return &servingpb.Input{Kind: &servingpb.Input_ExampleList{ExampleList: &servingpb.ExampleList{Examples: examples}}}, nil
}

func (d *document) examples() ([]*pb.Example, error) {
	n := d.member(0, "examples")
	switch {
	case n == 0:
		return nil, d.fault(0, "When method is classify, key 'examples' is expected and was not found")
	case !d.is(n, array):
		return nil, d.fault(0, "Expecting 'examples' value to be an list/array")
	case d.nodes[n].size == 0:
		return nil, d.fault(0, "'examples' value is an empty array")
	}
	out := make([]*pb.Example, d.nodes[n].size)
	return out, d.children(n, func(i int, child int32) (err error) {
		out[i], err = d.example(child)
		return err
	})
}

// example reads an object of features.
func (d *document) example(n int32) (*pb.Example, error) {
	if !d.is(n, object) {
		return nil, tf.Errorf(tf.InvalidArgument, "Example must be JSON object but got JSON %v", d.nodes[n].kind)
	}
	features := map[string]*pb.Feature{}
	err := d.members(n, func(name string, value int32) error {
		f := &pb.Feature{}
		features[name] = f
		if !d.is(value, array) {
			return d.addTo(f, name, value)
		}
		return d.children(value, func(_ int, child int32) error { return d.addTo(f, name, child) })
	})
	return &pb.Example{Features: &pb.Features{Feature: features}}, err
}

// addTo adds a value to a feature. The first value decides on the kind.
func (d *document) addTo(f *pb.Feature, name string, n int32) error {
	switch k := d.nodes[n].kind; {
	case k == boolTrue:
		return addInt(f, name, 1)
	case k == boolFalse:
		return addInt(f, name, 0)
	case k == text:
		return addBytes(f, name, d.text(n))
	case k == object && d.isBytes(n):
		b, err := d.bytes(n)
		if err != nil {
			return err
		}
		return addBytes(f, name, b)
	case k == number && d.nodes[n].float:
		return addFloat(f, name, float32(d.float64(n)))
	case k == number:
		x, ok := d.int64(n, math.MinInt64, math.MaxInt64)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Feature: %s has uint64_t element. Only int64_t is supported.", name)
		}
		return addInt(f, name, x)
	default:
		return tf.Errorf(tf.InvalidArgument, "Feature: %s has element with unexpected JSON type: %v", name, k)
	}
}

func addInt(f *pb.Feature, name string, x int64) error {
	if f.Kind == nil {
		f.Kind = &pb.Feature_Int64List{Int64List: &pb.Int64List{}}
	}
	l := f.GetInt64List()
	if l == nil {
		return mixed(f, name)
	}
	l.Value = append(l.Value, x)
	return nil
}

func addFloat(f *pb.Feature, name string, x float32) error {
	if f.Kind == nil {
		f.Kind = &pb.Feature_FloatList{FloatList: &pb.FloatList{}}
	}
	l := f.GetFloatList()
	if l == nil {
		return mixed(f, name)
	}
	l.Value = append(l.Value, x)
	return nil
}

func addBytes(f *pb.Feature, name, x string) error {
	if f.Kind == nil {
		f.Kind = &pb.Feature_BytesList{BytesList: &pb.BytesList{}}
	}
	l := f.GetBytesList()
	if l == nil {
		return mixed(f, name)
	}
	l.Value = append(l.Value, []byte(x))
	return nil
}

// mixed says of which kind the first element of a feature was.
func mixed(f *pb.Feature, name string) error {
	kind := "bytes"
	switch f.Kind.(type) {
	case *pb.Feature_FloatList:
		kind = "float"
	case *pb.Feature_Int64List:
		kind = "int64"
	}
	return tf.Errorf(tf.InvalidArgument, "Unexpected element type in feature: %s expecting type: %s", name, kind)
}
