package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// build writes a table.
func build(t testing.TB, m map[string]string) []byte {
	var b bytes.Buffer
	w := newTableWriter(&b)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		w.add(key, []byte(m[key]))
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTable compares tables with maps of the same contents.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 16, 17, 40, 3000} {
		m := map[string]string{}
		for i := range n {
			key := fmt.Sprintf("%x/%s\xff", random.IntN(4*n), strings.Repeat("k", random.IntN(30)))
			m[key] = strings.Repeat(string(rune('a'+i%26)), random.IntN(600))
		}
		if n > 0 {
			m[""], m["\xff"], m["large"] = "header", "", strings.Repeat("large", 1<<18)
		}
		b := build(t, m)
		table, err := openTable(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		if err := table.each(func(k string, v []byte) error { seen[k] = string(v); return nil }); err != nil || !maps.Equal(seen, m) {
			t.Errorf("%d entries: %d seen (%v)", len(m), len(seen), err)
		}
		for key, want := range m {
			if got, ok, err := table.get(key); !ok || err != nil || string(got) != want {
				t.Fatalf("%q is %q, want %q (%v)", key, got, want, err)
			}
			if _, ok, err := table.get(key + "\x00"); ok || err != nil {
				t.Fatalf("%q is there (%v)", key+"\x00", err)
			}
		}
	}
}

func TestShortKeys(t *testing.T) {
	for _, c := range [][3]string{
		{"abc", "abf", "abd"}, {"abc", "abd", "abc"}, {"ab", "abc", "ab"}, {"a\xff", "b", "a\xff"}, {"a1", "c", "b"}, {"", "x", ""},
	} {
		if got := separator(c[0], c[1]); got != c[2] {
			t.Errorf("separator(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for in, want := range map[string]string{"abc": "b", "\xff\xffa": "\xff\xffb", "\xff": "\xff", "": ""} {
		if got := successor(in); got != want {
			t.Errorf("successor(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSnappyTable has the first block compressed, as one literal.
func TestSnappyTable(t *testing.T) {
	var b bytes.Buffer
	w := newTableWriter(&b)
	w.data.add("key", []byte("value"))
	plain := w.data.finish()
	packed := append([]byte{byte(len(plain)), byte(len(plain)-1) << 2}, plain...)
	s := span{0, uint64(len(packed))}
	w.put(sealed(append(packed, snappyBlock)))
	w.last, w.pending = "key", &s
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	table, err := openTable(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok, err := table.get("key"); !ok || err != nil || string(got) != "value" {
		t.Error(got, ok, err)
	}
	bad := bytes.Clone(b.Bytes())
	copy(bad, sealed(append(packed, 7)))
	if table, err = openTable(bytes.NewReader(bad), int64(len(bad))); err != nil {
		t.Fatal(err)
	}
	_, _, err = table.get("key")
	fails(t, err, core.DataLoss, "bad block type")
}

// TestBlocks is about blocks whose contents are not what they should be, though
// their checksums are right.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ contents, words string }{
		{"", "bad block contents"},
		{"\xff\xff\xff\xff", "bad block contents"},
		{"\xff\x00\x00\x00\x02\x00\x00\x00", "bad block contents"},
		{"\x01\x01\x01k\x00\x00\x00\x00\x01\x00\x00\x00", "bad entry in block"},
		{"\x00\x09\x01k\x00\x00\x00\x00\x01\x00\x00\x00", "bad entry in block"},
		{"\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x01\x00\x00\x00", "bad entry in block"},
	} {
		b, err := parseBlock([]byte(c.contents))
		if err == nil {
			at, ok := b.seek("k")
			if err = at.err; ok {
				t.Errorf("%q has an entry", c.contents)
			}
		}
		fails(t, err, core.DataLoss, c.words)
	}
}
