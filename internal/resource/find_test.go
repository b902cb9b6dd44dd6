package resource

import "testing"

func TestFindByHandle(t *testing.T) {
	type thing struct{ n int }
	m, v := NewManager("localhost"), &thing{7}
	if err := Create(m, "", "a", v); err != nil {
		t.Fatal(err)
	}
	hash := TypeOf[*thing]().Hash
	for _, c := range []struct {
		container, name string
		hash            uint64
		found           bool
	}{
		{"", "a", hash, true}, {"localhost", "a", hash, true},
		{"", "b", hash, false}, {"", "a", hash + 1, false}, {"other", "a", hash, false},
	} {
		got, ok := m.Find(c.container, c.name, c.hash)
		if ok != c.found || ok && got != any(v) {
			t.Errorf("Find(%q, %q, %#x) = %v, %v", c.container, c.name, c.hash, got, ok)
		}
	}
}
