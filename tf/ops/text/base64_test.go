package text

import (
	"encoding/base64"
	"math/rand/v2"
	"testing"
)

// TestBase64 compares with package encoding/base64, and bad texts with what names errors.
func TestBase64(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		raw := make([]byte, rng.IntN(20))
		for i := range raw {
			raw[i] = byte(rng.Uint32())
		}
		coded := base64.RawURLEncoding.EncodeToString(raw)
		padded := base64.URLEncoding.EncodeToString(raw)
		if got := string(appendBase64([]byte("x"), string(raw), false)); got != "x"+coded {
			t.Fatalf("%q is %s, want %s", raw, got, coded)
		}
		if got := string(appendBase64(nil, string(raw), true)); got != padded {
			t.Fatalf("%q is %s, want %s", raw, got, padded)
		}
		compareDecoded(t, coded)
		compareDecoded(t, padded)
		bad := []byte(padded + "AAAA")
		bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		compareDecoded(t, string(bad))
		compareDecoded(t, string(bad[:rng.IntN(len(bad)+1)]))
	}
}

// compareDecoded compares what many texts are decoded by with what decodes one.
func compareDecoded(t *testing.T, s string) {
	t.Helper()
	want, err := decodeBase64(s)
	y := []string{"", ""}
	if ok := decodeAll(y, []string{"YQ", s}); ok != (err == nil) || y[0] != "a" || ok && y[1] != want {
		t.Fatalf("%q is %q, %t, want %q, %v", s, y[1], ok, want, err)
	}
}
