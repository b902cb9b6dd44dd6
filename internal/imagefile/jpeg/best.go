package jpeg

// longest is the greatest length of codes while they are searched for, before
// they are cut to 16 bits.
const longest = 63

// best returns the table that is shortest for symbols that come as often as
// counted, nil if none comes. No code has ones only.
func best(count *[257]int) *huffman {
	freq := *count
	freq[256] = 1 // takes the code of ones only
	var length, next [257]int
	for i := range next {
		next[i] = -1
	}
	for pairs := 0; ; pairs++ {
		a := rarest(&freq, -1)
		b := rarest(&freq, a)
		if b < 0 {
			if pairs == 0 {
				return nil
			}
			break
		}
		freq[a] += freq[b]
		freq[b] = 0
		for length[a]++; next[a] >= 0; length[a]++ {
			a = next[a]
		}
		next[a] = b
		for length[b]++; next[b] >= 0; length[b]++ {
			b = next[b]
		}
	}
	return tableOf(&length)
}

// rarest returns the last of the symbols that come least often, but at all; -1
// if there is none beside except.
func rarest(freq *[257]int, except int) int {
	at := -1
	for i, f := range freq {
		if f > 0 && i != except && (at < 0 || f <= freq[at]) {
			at = i
		}
	}
	return at
}

// tableOf makes the table of codes of given lengths, none longer than 16 bits.
func tableOf(length *[257]int) *huffman {
	var counts [longest + 1]int
	for _, n := range length {
		counts[min(n, longest)]++
	}
	for n := longest; n > 16; n-- {
		for counts[n] > 0 {
			shorter := n - 2
			for counts[shorter] == 0 {
				shorter--
			}
			counts[n] -= 2 // two that differ in the last bit:
			counts[n-1]++  // one goes there alone,
			counts[shorter+1] += 2
			counts[shorter]-- // the other beside one of these
		}
	}
	n := 16
	for counts[n] == 0 {
		n--
	}
	counts[n]-- // the code of ones only
	h := &huffman{}
	for n := 1; n <= 16; n++ {
		h.counts[n] = byte(counts[n])
	}
	for n := 1; n <= longest; n++ {
		for s, l := range length[:256] {
			if l == n {
				h.symbols = append(h.symbols, byte(s))
			}
		}
	}
	return h
}
