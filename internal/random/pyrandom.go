package random

// EagerSeeds makes the seeds of ops that run eagerly under a global seed and
// have none of their own: those that Python's random.Random(seed) draws with
// randint(0, 2³¹ − 1), by the Mersenne Twister MT19937.
type EagerSeeds struct {
	state [mtSize]uint32
	next  int
}

const (
	mtSize  = 624
	mtShift = 397
)

// NewEagerSeeds returns the seeds under a global seed. Python takes seeds of
// any size; here the sign is dropped as it is there.
func NewEagerSeeds(seed int64) *EagerSeeds {
	e := &EagerSeeds{next: mtSize}
	magnitude := uint64(max(seed, -seed))
	key := []uint32{uint32(magnitude), uint32(magnitude >> 32)}
	if key[1] == 0 {
		key = key[:1]
	}
	e.seedBy(key)
	return e
}

// Next returns the seed of the next op, in [0, 2³¹).
func (e *EagerSeeds) Next() int64 {
	for {
		if w := e.word(); w < 1<<31 {
			return int64(w)
		}
	}
}

// seedBy mixes a key of any length into the state.
func (e *EagerSeeds) seedBy(key []uint32) {
	s := &e.state
	s[0] = 19650218
	for i := 1; i < mtSize; i++ {
		s[i] = 1812433253*mixed(s[i-1], 30) + uint32(i)
	}
	i := 1
	for n := range max(mtSize, len(key)) {
		j := n % len(key)
		s[i] = (s[i] ^ mixed(s[i-1], 30)*1664525) + key[j] + uint32(j)
		i = e.following(i)
	}
	for range mtSize - 1 {
		s[i] = (s[i] ^ mixed(s[i-1], 30)*1566083941) - uint32(i)
		i = e.following(i)
	}
	s[0] = 1 << 31
}

// following is the next place to mix, which is never the first: that one only
// carries the last over to the front.
func (e *EagerSeeds) following(i int) int {
	if i++; i < mtSize {
		return i
	}
	e.state[0] = e.state[mtSize-1]
	return 1
}

func mixed(x uint32, shift int) uint32 { return x ^ x>>shift }

// word returns the next 32 bits.
func (e *EagerSeeds) word() uint32 {
	if e.next == mtSize {
		e.twist()
	}
	y := e.state[e.next]
	e.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// twist makes the next 624 words.
func (e *EagerSeeds) twist() {
	s := &e.state
	for i := range s {
		y := s[i]&(1<<31) | s[(i+1)%mtSize]&(1<<31-1)
		s[i] = s[(i+mtShift)%mtSize] ^ y>>1 ^ y&1*0x9908b0df
	}
	e.next = 0
}
