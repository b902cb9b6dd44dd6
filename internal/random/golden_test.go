package random

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// golden has what TensorFlow 2.21 computes, by case; testdata/golden.py made it.
var golden = sync.OnceValues(func() (map[string]string, error) {
	f, err := os.Open("testdata/golden.txt")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cases := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		name, values, ok := strings.Cut(s.Text(), " | ")
		if !ok {
			return nil, fmt.Errorf("golden.txt: no separator in %q", s.Text())
		}
		cases[name] = values
	}
	return cases, s.Err()
})

// want returns the values of a golden case.
func want(t *testing.T, format string, args ...any) []string {
	t.Helper()
	cases, err := golden()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf(format, args...)
	values, ok := cases[name]
	if !ok {
		t.Fatalf("golden.txt has no case %q", name)
	}
	return strings.Fields(values)
}

// spell writes values as golden.txt has them.
func spell[T any](values []T) []string {
	s := make([]string, len(values))
	for i, v := range values {
		switch v := any(v).(type) {
		case float32:
			s[i] = fmt.Sprintf("%08x", math.Float32bits(v))
		case float64:
			s[i] = fmt.Sprintf("%016x", math.Float64bits(v))
		case uint16: // half and bfloat16
			s[i] = fmt.Sprintf("%04x", v)
		default:
			s[i] = fmt.Sprint(v)
		}
	}
	return s
}

// compare checks that got has exactly the golden values.
func compare[T any](t *testing.T, got []T, want []string) {
	t.Helper()
	s := spell(got)
	if len(s) != len(want) {
		t.Fatalf("%d values, want %d", len(s), len(want))
	}
	for i := range s {
		if s[i] != want[i] {
			t.Fatalf("element %d is %s, want %s\n got %s\nwant %s", i, s[i], want[i], s, want)
		}
	}
}

// closeTo checks values that may differ by a few units in the last place.
func closeTo[T float32 | float64](t *testing.T, got []T, want []string, ulps int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i, s := range spell(got) {
		if d := int64(bitsOf(t, s) - bitsOf(t, want[i])); d > ulps || d < -ulps {
			t.Fatalf("element %d is %s, want %s: %d ulp apart", i, s, want[i], d)
		}
	}
}

func bitsOf(t *testing.T, hex string) uint64 {
	t.Helper()
	b, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seedPairs are the seed attributes that golden.py tries.
var seedPairs = [][2]int64{{1, 3}, {-5, 1 << 40}, {0, 7}}

// eachSeed runs f for two runs of an op with each pair of seeds; at names them
// as golden.txt does, and g is in the state before the run.
func eachSeed(t *testing.T, f func(t *testing.T, g *Generator, at string, run int)) {
	for _, s := range seedPairs {
		at := fmt.Sprintf("seed=%d seed2=%d", s[0], s[1])
		t.Run(at, func(t *testing.T) {
			g := NewGenerator(s[0], s[1])
			for run := 1; run <= 2; run++ {
				f(t, g, at, run)
			}
		})
	}
}

// statelessSeeds are the seeds that golden.py gives to stateless ops.
var statelessSeeds = [][2]int64{{1, 2}, {-1, 7}, {1 << 40, -(1 << 62)}}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
