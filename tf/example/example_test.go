package example_test

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/pb"
)

var sample = example.Example{
	"name": example.Strings("a", "", "\xff"), "size": example.Floats(1.5, -2), "id": example.Ints(7, -7, 1<<62),
	"nothing": {}, "no ints": example.Ints(), "no floats": example.Floats(), "no strings": example.Strings(),
}

func TestExample(t *testing.T) {
	b := sample.Marshal()
	got, err := example.Unmarshal(b)
	if err != nil || !reflect.DeepEqual(got, sample) {
		t.Errorf("%v, want %v (%v)", got, sample, err)
	}
	var p pb.Example
	if err := proto.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	f := p.GetFeatures().GetFeature()
	if len(f) != len(sample) || string(f["name"].GetBytesList().GetValue()[2]) != "\xff" || f["size"].GetFloatList().GetValue()[1] != -2 ||
		f["id"].GetInt64List().GetValue()[2] != 1<<62 || f["nothing"].GetKind() != nil || f["no ints"].GetInt64List() == nil {
		t.Error(&p)
	}
	again, err := proto.Marshal(&p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := example.Unmarshal(again); err != nil || !reflect.DeepEqual(got, sample) {
		t.Errorf("%v, want %v (%v)", got, sample, err)
	}
}

func TestSequence(t *testing.T) {
	s := example.Sequence{Context: sample, Lists: map[string][]example.Feature{"steps": {example.Ints(1), {}, example.Floats(2, 3)}, "none": {}}}
	got, err := example.UnmarshalSequence(s.Marshal())
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v, want %v (%v)", got, s, err)
	}
	var p pb.SequenceExample
	if err := proto.Unmarshal(s.Marshal(), &p); err != nil || len(p.GetFeatureLists().GetFeatureList()["steps"].GetFeature()) != 3 {
		t.Error(&p, err)
	}
}

func TestRefuses(t *testing.T) {
	for _, bad := range []string{"\x0a", "\x0a\x05a", "\x0a\x0c\x0a\x0a\x0a\x01a\x12\x05\x12\x03\x0a\x01a", "\x0a\x0c\x0a\x0a\x0a\x01a\x12\x05\x1a\x03\x0a\x01\xff"} {
		if e, err := example.Unmarshal([]byte(bad)); err == nil {
			t.Errorf("%q is %v", bad, e)
		}
		if s, err := example.UnmarshalSequence([]byte(bad)); err == nil {
			t.Errorf("%q is %v", bad, s)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(sample.Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := example.Unmarshal(b); err == nil {
			if _, err := example.Unmarshal(e.Marshal()); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := example.UnmarshalSequence(b); err == nil {
			if _, err := example.UnmarshalSequence(s.Marshal()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
