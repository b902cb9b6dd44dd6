package example_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/example"
	"github.com/gorge-tf/gorge/tf/pb"
)

func feature(v any) *pb.Feature {
	switch v := v.(type) {
	case []string:
		l := &pb.BytesList{}
		for _, s := range v {
			l.Value = append(l.Value, []byte(s))
		}
		return &pb.Feature{Kind: &pb.Feature_BytesList{BytesList: l}}
	case []float32:
		return &pb.Feature{Kind: &pb.Feature_FloatList{FloatList: &pb.FloatList{Value: v}}}
	case []int64:
		return &pb.Feature{Kind: &pb.Feature_Int64List{Int64List: &pb.Int64List{Value: v}}}
	}
	return &pb.Feature{}
}

func serialized(t testing.TB, m proto.Message) string {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// compare compares what is read with the message.
func compare(t *testing.T, name string, v example.Feature, want *pb.Feature) {
	t.Helper()
	strs, ok1 := v.AppendStrings(nil)
	floats, ok2 := v.AppendFloats(nil)
	ints, ok3 := v.AppendInts(nil)
	ok := false
	switch v.Kind {
	case example.None:
		ok = want.GetKind() == nil
	case example.Strings:
		ok = ok1 && slices.EqualFunc(strs, want.GetBytesList().GetValue(), func(a string, b []byte) bool { return a == string(b) })
	case example.Floats:
		ok = ok2 && slices.EqualFunc(floats, want.GetFloatList().GetValue(), func(a, b float32) bool { return a == b || a != a && b != b })
	case example.Ints:
		ok = ok3 && slices.Equal(ints, want.GetInt64List().GetValue())
	}
	if !ok {
		t.Errorf("%s is %v %q %v %v, want %v", name, v.Kind, strs, floats, ints, want)
	}
}

var context = map[string]*pb.Feature{
	"s": feature([]string{"a", "", "long"}), "f": feature([]float32{1, -2.5}), "i": feature([]int64{1, -1, 1 << 40}),
	"none": feature(nil), "empty": feature([]int64{}), "": feature([]float32{7}),
}

func TestFeatures(t *testing.T) {
	seen := map[string]bool{}
	if !example.Features(serialized(t, &pb.Example{Features: &pb.Features{Feature: context}}), func(name string, v example.Feature) {
		compare(t, name, v, context[name])
		seen[name] = true
	}) || len(seen) != len(context) {
		t.Errorf("seen %v", seen)
	}
}

func TestSequence(t *testing.T) {
	lists := map[string]*pb.FeatureList{"l": {Feature: []*pb.Feature{feature([]int64{1}), feature(nil), feature([]int64{2, 3})}}, "none": {}}
	seen := 0
	ok := example.Sequence(serialized(t, &pb.SequenceExample{Context: &pb.Features{Feature: context}, FeatureLists: &pb.FeatureLists{FeatureList: lists}}),
		func(name string, v example.Feature) { compare(t, name, v, context[name]); seen++ },
		func(name string, steps []example.Feature) {
			seen++
			for i, v := range steps {
				compare(t, name, v, lists[name].GetFeature()[i])
			}
			if len(steps) != len(lists[name].GetFeature()) {
				t.Errorf("%s has %d steps", name, len(steps))
			}
		})
	if !ok || seen != len(context)+2 {
		t.Errorf("seen %d, %v", seen, ok)
	}
}

// TestOneByOne: numbers need not be packed, and fields that nobody knows are
// skipped.
func TestOneByOne(t *testing.T) {
	var list []byte
	for _, x := range []uint64{5, 6} {
		list = protowire.AppendVarint(protowire.AppendTag(list, 1, protowire.VarintType), x)
		list = protowire.AppendVarint(protowire.AppendTag(list, 9, protowire.VarintType), 99)
	}
	value := protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), list)
	entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "name")
	entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), value)
	features := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), entry)
	b := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), features)
	var got []int64
	if !example.Features(string(b), func(_ string, v example.Feature) { got, _ = v.AppendInts(got) }) || !slices.Equal(got, []int64{5, 6}) {
		t.Error(got)
	}
}

// FuzzFeatures compares with the parser of messages: what that takes, ours
// takes, with the same values.
func FuzzFeatures(f *testing.F) {
	f.Add([]byte(serialized(f, &pb.Example{Features: &pb.Features{Feature: context}})))
	f.Add([]byte("\x0a\x05\x0a\x03\x0a\x01a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]example.Feature{}
		ok := example.Features(string(b), func(name string, v example.Feature) { got[name] = v })
		_ = example.Sequence(string(b), func(string, example.Feature) {}, func(string, []example.Feature) {})
		for _, v := range got {
			_, _ = v.AppendFloats(nil)
			_, _ = v.AppendInts(nil)
			_, _ = v.AppendStrings(nil)
		}
		var want pb.Example
		if proto.Unmarshal(b, &want) != nil {
			return
		}
		if !ok || len(got) != len(want.GetFeatures().GetFeature()) {
			t.Fatalf("%d features, want %d (%v)", len(got), len(want.GetFeatures().GetFeature()), ok)
		}
	})
}
