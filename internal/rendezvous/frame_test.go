package rendezvous

import "testing"

func TestHash64(t *testing.T) {
	for s, want := range map[string]uint64{
		"":                    9328806548029283899,
		"a":                   2996632905371535868,
		"while/while_context": 13831510404854872022,
	} {
		if got := Hash64(s); got != want {
			t.Errorf("Hash64(%q) = %d, want %d", s, got, want)
		}
	}
}

// hashByBytes is the hash as its definition reads: blocks of eight bytes, the
// rest put in byte by byte.
func hashByBytes(s string, seed uint64) uint64 {
	const m = 0xc6a4a7935bd1e995
	h := seed ^ uint64(len(s))*m
	i := 0
	for ; i+8 <= len(s); i += 8 {
		var k uint64
		for j := range 8 {
			k |= uint64(s[i+j]) << (8 * j)
		}
		k *= m
		k ^= k >> 47
		k *= m
		h ^= k
		h *= m
	}
	for j := range len(s) - i {
		h ^= uint64(s[i+j]) << (8 * j)
	}
	if i < len(s) {
		h *= m
	}
	h ^= h >> 47
	h *= m
	return h ^ h>>47
}

func TestHash64AgainstDefinition(t *testing.T) {
	text := "loop_body/while_context;17\xff\x80\x01 and some more"
	for n := range len(text) + 1 {
		for _, seed := range []uint64{0, 1, 0xDECAFCAFFE, 0x2b992ddfa23249d6} {
			if got, want := Hash64Seed(text[:n], seed), hashByBytes(text[:n], seed); got != want {
				t.Errorf("Hash64Seed(%q, %#x) = %#x, want %#x", text[:n], seed, got, want)
			}
		}
	}
}

func TestFrameID(t *testing.T) {
	outer := FrameID(0, 0, "while/while_context")
	if want := uint64(18186195969791715286); outer != want {
		t.Errorf("frame of a loop = %d, want %d", outer, want)
	}
	inner := FrameID(outer, 3, "while/while/while_context")
	if want := uint64(14089697833663524178); inner != want {
		t.Errorf("frame of a nested loop = %d, want %d", inner, want)
	}
}
