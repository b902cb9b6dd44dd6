package rendezvous

import "encoding/binary"

// FrameID returns the number by which peers know a loop frame: entered from
// iteration iter of the frame numbered parent, under the name that its Enter
// nodes carry. It is a hash, as in TensorFlow 2, because a loop that spans
// tasks needs no agreement on it then. The root frame is number 0.
func FrameID(parent uint64, iter int64, name string) uint64 {
	return combine(parent, combine(uint64(iter), Hash64(name)))
}

func combine(a, b uint64) uint64 {
	return a ^ (b + 0x9e3779b97f4a7800 + a<<10 + a>>4)
}

// Hash64 is TensorFlow's hash of a text, MurmurHash64A under a seed of its own.
func Hash64(s string) uint64 { return Hash64Seed(s, 0xDECAFCAFFE) }

// Hash64Seed is Hash64 under another seed, for hashing a list of texts.
func Hash64Seed(s string, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(s))*m
	for ; len(s) >= 8; s = s[8:] {
		k := binary.LittleEndian.Uint64([]byte(s[:8])) * m
		h = (h ^ (k^k>>r)*m) * m
	}
	if len(s) > 0 {
		var tail [8]byte
		copy(tail[:], s)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
