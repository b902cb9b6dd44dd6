package hash

import "testing"

func TestHash64(t *testing.T) {
	for text, want := range map[string]uint64{ // TensorFlow's
		"a": 2996632905371535868, "b": 5795986006276551370, "c": 14899841994519054197,
	} {
		if got := Hash64(text); got != want {
			t.Errorf("Hash64(%q) = %d, want %d", text, got, want)
		}
	}
	const long = "more than eight bytes"
	if Hash64(long) == Hash64(long[1:]) || Hash64(long) != Hash64Seed(long, 0xDECAFCAFFE) {
		t.Error("Hash64 of a long text")
	}
	if Hash64Combine(1, 2) == Hash64Combine(2, 1) {
		t.Error("order does not count")
	}
}
