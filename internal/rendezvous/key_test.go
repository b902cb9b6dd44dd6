package rendezvous

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf/core"
)

const (
	worker0 = "/job:worker/replica:0/task:0"
	worker1 = "/job:worker/replica:0/task:1"
	cpu0    = worker0 + "/device:CPU:0"
	cpu1    = worker1 + "/device:CPU:0"
)

func TestKeyText(t *testing.T) {
	for text, k := range map[string]Key{
		cpu0 + ";0000000000000001;" + cpu0 + ";x:0;0:0": {Src: cpu0, SrcIncarnation: 1, Dst: cpu0, Edge: "x:0"},
		cpu1 + ";00deadbeef00cafe;" + cpu0 + ";edge_12_MatMul;18186195969791715286:41": {
			Src: cpu1, SrcIncarnation: 0xdeadbeef00cafe, Dst: cpu0, Edge: "edge_12_MatMul", Frame: 18186195969791715286, Iter: 41},
		cpu0 + ";ffffffffffffffff;/device:CPU:0;e;18446744073709551615:-9223372036854775808": {
			Src: cpu0, SrcIncarnation: math.MaxUint64, Dst: "/device:CPU:0", Edge: "e", Frame: math.MaxUint64, Iter: math.MinInt64},
	} {
		if got := k.String(); got != text {
			t.Errorf("String() = %q, want %q", got, text)
		}
		got, err := ParseKey(text)
		if err != nil {
			t.Errorf("ParseKey(%q): %v", text, err)
		}
		if d := cmp.Diff(k, got); d != "" {
			t.Errorf("ParseKey(%q) (-want +got):\n%s", text, d)
		}
	}
}

func TestKeyStem(t *testing.T) {
	s := KeyOf(&core.Node{Attrs: core.Attrs{
		"send_device": cpu0, "send_device_incarnation": int64(7), "recv_device": cpu1, "tensor_name": "e",
	}}).Stem()
	for _, k := range []Key{{Frame: 0, Iter: 0}, {Frame: 0, Iter: 1}, {Frame: 5, Iter: 0}, {Frame: 1 << 63, Iter: 12}} {
		k.Src, k.SrcIncarnation, k.Dst, k.Edge = cpu0, 7, cpu1, "e"
		if got := s.Key(k.Frame, k.Iter); got != k.String() {
			t.Errorf("stem gives %q, want %q", got, k)
		}
	}
	if n := testing.AllocsPerRun(100, func() { s.Key(0, 0) }); n != 0 {
		t.Errorf("a key outside of loops allocates %v times, want 0", n)
	}
}

func TestParseKeyRefuses(t *testing.T) {
	good := Key{Src: cpu0, Dst: cpu1, Edge: "e"}.String()
	for _, bad := range []string{
		"", ";;;;", good + ";", good + ";0", good[:len(good)-4],
		strings.Replace(good, ";e;", ";;", 1),
		strings.Replace(good, "0000000000000000", "xyz", 1),
		strings.Replace(good, "0000000000000000", "", 1),
		strings.Replace(good, cpu0, "", 1),
		strings.Replace(good, cpu1, "cpu one", 1),
		strings.TrimSuffix(good, ":0"),
		strings.TrimSuffix(good, "0:0") + "a:b",
		strings.TrimSuffix(good, "0:0") + "-1:0",
	} {
		_, err := ParseKey(bad)
		if !errors.Is(err, &core.Error{Code: core.InvalidArgument}) {
			t.Errorf("ParseKey(%q) = %v, want an InvalidArgument error", bad, err)
		}
	}
}

func TestKeyTasks(t *testing.T) {
	k := Key{Src: cpu1, Dst: cpu0}
	src, err := k.SrcTask()
	if err != nil || src != worker1 {
		t.Errorf("SrcTask() = %q, %v, want %q", src, err, worker1)
	}
	dst, err := k.DstTask()
	if err != nil || dst != worker0 {
		t.Errorf("DstTask() = %q, %v, want %q", dst, err, worker0)
	}
}

func TestEndpoints(t *testing.T) {
	for key, want := range map[string][2]string{
		Key{Src: cpu0, Dst: cpu1, Edge: "e"}.String(): {cpu0, cpu1},
		"":      {},
		"a":     {},
		"a;b":   {},
		"a;b;c": {"a", "c"},
	} {
		if src, dst := endpoints(key); src != want[0] || dst != want[1] {
			t.Errorf("endpoints(%q) = %q, %q, want %q", key, src, dst, want)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(Key{Src: cpu0, SrcIncarnation: 1, Dst: cpu1, Edge: "e", Frame: 3, Iter: 4}.String())
	f.Add(";;;;")
	f.Fuzz(func(t *testing.T, s string) {
		k, err := ParseKey(s)
		if err != nil {
			return
		}
		again, err := ParseKey(k.String())
		if err != nil || again != k {
			t.Errorf("ParseKey(%q) = %+v, which reads back as %+v, %v", s, k, again, err)
		}
		if src, dst := endpoints(s); src != k.Src || dst != k.Dst {
			t.Errorf("endpoints(%q) = %q, %q, ParseKey says %q, %q", s, src, dst, k.Src, k.Dst)
		}
	})
}
