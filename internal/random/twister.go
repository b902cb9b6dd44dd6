package random

// A Twister draws the seeds that TensorFlow's eager operations have if they are
// given none: the numbers random.Random(seed).randint(0, 2³¹-1) of Python, whose
// generator is the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998).
type Twister struct {
	state [624]uint32
	at    int // the next word of state; len(state): all are used
}

const twisterShift = 397 // the distance of the words that make a new one

// NewTwister returns the generator of Python's random.Random(seed).
func NewTwister(seed int64) *Twister {
	t := &Twister{}
	size := uint64(seed)
	if seed < 0 {
		size = -size // Python takes the absolute value
	}
	key := []uint32{uint32(size)}
	if high := uint32(size >> 32); high != 0 {
		key = append(key, high)
	}
	t.fill(19650218)
	t.mix(key)
	return t
}

// fill sets the state from one word.
func (t *Twister) fill(seed uint32) {
	t.state[0] = seed
	for i := 1; i < len(t.state); i++ {
		t.state[i] = 1812433253*t.folded(i-1) + uint32(i)
	}
	t.at = len(t.state)
}

// folded returns a word with its two high bits added to the low ones.
func (t *Twister) folded(i int) uint32 { return t.state[i] ^ t.state[i]>>30 }

// mix brings a key into the state: init_by_array of the reference.
func (t *Twister) mix(key []uint32) {
	n, i, j := len(t.state), 1, 0
	next := func() {
		if i++; i == n {
			t.state[0], i = t.state[n-1], 1
		}
	}
	for range max(n, len(key)) {
		t.state[i] = t.state[i] ^ t.folded(i-1)*1664525 + key[j] + uint32(j)
		j = (j + 1) % len(key)
		next()
	}
	for range n - 1 {
		t.state[i] = t.state[i] ^ t.folded(i-1)*1566083941 - uint32(i)
		next()
	}
	t.state[0] = 1 << 31
}

// turn makes the next len(state) words.
func (t *Twister) turn() {
	n := len(t.state)
	for i := range n {
		y := t.state[i]&(1<<31) | t.state[(i+1)%n]&(1<<31-1)
		t.state[i] = t.state[(i+twisterShift)%n] ^ y>>1 ^ y&1*0x9908b0df
	}
	t.at = 0
}

func (t *Twister) word() uint32 {
	if t.at == len(t.state) {
		t.turn()
	}
	y := t.state[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Seed returns the next seed, from 0 to 2³¹-1.
func (t *Twister) Seed() int64 {
	for {
		if x := t.word(); x < 1<<31 {
			return int64(x)
		}
	}
}
