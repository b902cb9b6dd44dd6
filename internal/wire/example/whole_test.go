package example

import "testing"

// FuzzShortWays compares the short ways with the general ones.
func FuzzShortWays(f *testing.F) {
	for _, b := range []string{
		"", "\n", "\n\x01a", "\n\x01a\x12\x00", "\n\x01a\x12\x04\x1a\x02\n\x00", "\n\x00\x12\x05\n\x03\n\x01x", "\n\x01a\x12\x82\x00\x1a\x00",
		"\n\x01a\x12\x02\n\x00\n\x01b", "\x12\x02\n\x00\n\x01a", "\n\x81\x00a\x12\x00", "\x1a\x80\x00", "\x1a\x00\x12\x00", "\x1a\x02\n\x00", "\n\x01a\x12\x80\x80\x00",
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b string) {
		key, value, ok := wholePair(b)
		if k, v, fine := pair(b); ok && (!fine || k != key || v != value) {
			t.Errorf("%q: got %q and %q, want %q and %q, %v", b, key, value, k, v, fine)
		}
		got, ok := parse(b)
		if want, fine := parseFields(b); got != want || ok != fine {
			t.Errorf("%q: got %v, %v, want %v, %v", b, got, ok, want, fine)
		}
	})
}
