package tf

import (
	"strconv"
	"strings"
	"sync"
)

// UniqueName returns name within the current scope, made unique as TensorFlow
// does it: "x", "x_1", .... Names are taken case-insensitively. A name that
// ends in "/" is taken as it is, without the slash.
func (g *Graph) UniqueName(name string) string {
	return g.current().uniqueName(name)
}

func (g *Graph) uniqueName(name string) string {
	if exact, ok := strings.CutSuffix(name, "/"); ok {
		g.scope.names.take(exact)
		return exact
	}
	return g.scope.names.unique(inForce(&g.scope, &g.scope.prefix) + name)
}

// A nameTable holds the names in use, in lower case, each with the suffix that the
// next one of that name is tried with.
type nameTable struct {
	mu   sync.Mutex
	next map[string]int
}

// unique returns name, with a suffix if it is in use, and takes it.
func (t *nameTable) unique(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	base := strings.ToLower(name)
	i := t.next[base]
	t.next[base] = i + 1
	if i == 0 {
		return name
	}
	for ; ; i++ {
		suffix := "_" + strconv.Itoa(i)
		if _, taken := t.next[base+suffix]; !taken {
			t.next[base+suffix] = 1
			return name + suffix
		}
	}
}

// take marks an exact name as in use.
func (t *nameTable) take(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := strings.ToLower(name)
	t.next[key] = max(t.next[key], 1)
}

// validName reports whether s is a node name by TensorFlow's rule:
// [A-Za-z0-9.][A-Za-z0-9_.\\/>-]*.
func validName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.'
		if !alnum && (i == 0 || !strings.ContainsRune(`_\/>-`, rune(c))) {
			return false
		}
	}
	return s != ""
}
