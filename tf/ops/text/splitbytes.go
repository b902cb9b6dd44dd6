package text

// intoBytes splits texts into bytes.
type intoBytes struct{}

func (intoBytes) count(s string) int { return len(s) }

func (intoBytes) put(parts []string, indices []int64, s string, i int) {
	for k := range parts {
		parts[k] = s[k : k+1]
		indices[2*k], indices[2*k+1] = int64(i), int64(k)
	}
}

// atBytes splits at each of the bytes of a set. An empty text has no parts, and no part that
// is kept is empty unless keep is set.
type atBytes struct {
	set  *[256]bool
	keep bool
}

func (a atBytes) count(s string) (n int) {
	if s == "" {
		return 0
	}
	between := true // two parts
	for i := range len(s) {
		in := a.set[s[i]]
		if in && a.keep || !in && between && !a.keep {
			n++
		}
		between = in
	}
	if a.keep {
		n++
	}
	return n
}

func (a atBytes) put(parts []string, indices []int64, s string, i int) {
	k, begin := 0, 0
	for end := 0; k < len(parts); end++ {
		if end < len(s) && !a.set[s[end]] {
			continue
		}
		if begin < end || a.keep {
			parts[k] = s[begin:end]
			indices[2*k], indices[2*k+1] = int64(i), int64(k)
			k++
		}
		begin = end + 1
	}
}
