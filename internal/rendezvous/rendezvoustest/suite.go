package rendezvoustest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// Run checks the transports of pairs that newPair makes, one for each test.
func Run(t *testing.T, newPair func(t *testing.T) Pair) {
	for _, c := range []struct {
		name  string
		check func(*testing.T, Pair)
	}{
		{"PlainTypes", checkPlainTypes},
		{"Shapes", checkShapes},
		{"Strings", checkStrings},
		{"Handles", checkHandles},
		{"Dead", checkDead},
		{"Large", checkLarge},
		{"OrderPerKey", checkOrder},
		{"RecvFirst", checkRecvFirst},
		{"RecvBeforeRun", checkRecvBeforeRun},
		{"Concurrent", checkConcurrent},
		{"ChangedShape", checkChangedShape},
		{"Destination", checkDestination},
		{"NoMemory", checkNoMemory},
		{"SourceReleased", checkSourceReleased},
		{"Cancel", checkCancel},
		{"CancelledBefore", checkCancelledBefore},
		{"AbortReceiver", checkAbortReceiver},
		{"AbortSender", checkAbortSender},
		{"AbortedBefore", checkAbortedBefore},
		{"Cleanup", checkCleanup},
		{"UnknownTask", checkUnknownTask},
		{"ForeignKey", checkForeignKey},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, newPair(t)) })
	}
}

// exchange sends a value and checks what arrives.
func (l *link) exchange(edge string, want *core.Tensor) {
	l.t.Helper()
	l.send(edge, want, false)
	got, dead := l.recv(edge)
	if dead {
		l.t.Errorf("%s arrives dead", edge)
	}
	if d := diff(want, got); d != "" {
		l.t.Errorf("%s arrives as %s", edge, d)
	}
}

func checkPlainTypes(t *testing.T, p Pair) {
	l := p.link(t, 1)
	for _, d := range plainTypes() {
		l.exchange(d.String(), random(d, core.Shape{2, 3}, 1))
	}
}

func checkShapes(t *testing.T, p Pair) {
	l := p.link(t, 1)
	for _, s := range shapes {
		for _, d := range []core.DType{core.Float32, core.Uint8, core.Complex128} {
			l.exchange(fmt.Sprint(d, s), random(d, s, 2))
		}
	}
}

func checkStrings(t *testing.T, p Pair) {
	l := p.link(t, 1)
	for i, data := range [][]string{
		{}, {""}, {"a"}, {"", "", "b", ""}, {"\xff\x00\xfe not text", "Grüße"},
		{strings.Repeat("long ", 50000), "short"},
	} {
		want, err := core.FromSlice(data)
		if err != nil {
			t.Fatal(err)
		}
		l.exchange(fmt.Sprint("s", i), want)
	}
	l.exchange("scalar", core.Scalar("one"))
}

func checkHandles(t *testing.T, p Pair) {
	l := p.link(t, 1)
	want := core.ResourceHandle{Device: l.from, Container: "c", Name: "v", HashCode: 1 << 63, TypeName: "Var", DType: core.Float32, Shape: core.Shape{2, 3}}
	l.send("h", core.HandleTensor(want), false)
	got, _ := l.recv("h")
	if got.DType() != core.Resource || len(got.Handles()) != 1 {
		t.Fatalf("a handle arrives as %v", got)
	}
	if g, w := fmt.Sprint(got.Handles()[0]), fmt.Sprint(want); g != w {
		t.Errorf("handle = %v, want %v", g, w)
	}
}

func checkDead(t *testing.T, p Pair) {
	l := p.link(t, 1)
	for edge, v := range map[string]*core.Tensor{"none": nil, "float": scalar(1), "string": core.Scalar("x"), "empty": random(core.Int8, core.Shape{0}, 1)} {
		l.send(edge, v, true)
		got, dead := l.recv(edge)
		if !dead {
			t.Errorf("a dead value (%s) arrives alive: %v", edge, got)
		}
	}
	l.exchange("alive", scalar(2))
}

func checkLarge(t *testing.T, p Pair) {
	p.link(t, 1).exchange("large", random(core.Float32, core.Shape{10, 1 << 18}, 3))
}

func checkOrder(t *testing.T, p Pair) {
	l := p.link(t, 1)
	const n = 50
	for i := range int64(n) {
		l.send("e", scalar(i), false)
	}
	for i := range int64(n) {
		got, _ := l.recv("e")
		if d := diff(scalar(i), got); d != "" {
			t.Fatalf("value %d arrives as %s", i, d)
		}
	}
}

func checkRecvFirst(t *testing.T, p Pair) {
	l := p.link(t, 1)
	c := l.ask(context.Background(), "e")
	l.exchange("other", scalar(1)) // a waiting receive does not hold up the transport
	l.send("e", scalar(2), false)
	if g := <-c; g.err != nil || diff(scalar(2), g.t) != "" {
		t.Errorf("receive before send = %v, %v, want 2", g.t, g.err)
	}
}

// checkRecvBeforeRun asks a task for a step that it does not run yet.
func checkRecvBeforeRun(t *testing.T, p Pair) {
	l := &link{t: t, pair: p, from: p.A.Session.Task + cpu, to: p.B.Session.Task + cpu}
	l.b = p.B.Manager.Find(1)
	l.initialize(l.b, p.B.Session)
	c := l.ask(context.Background(), "e")
	p.link(t, 2).exchange("e", scalar(2)) // another step goes on meanwhile
	l.a = p.A.Manager.Find(1)
	l.initialize(l.a, p.A.Session)
	l.send("e", scalar(1), false)
	if g := <-c; g.err != nil || diff(scalar(1), g.t) != "" {
		t.Errorf("receive before the run = %v, %v, want 1", g.t, g.err)
	}
}

// checkConcurrent has many edges under way in both directions and two steps.
func checkConcurrent(t *testing.T, p Pair) {
	steps := []*link{p.link(t, 1), p.link(t, 2)}
	const n = 60
	var wg sync.WaitGroup
	for s, l := range steps {
		for i := range n {
			size := 1 + i*i*7
			v := random(core.Int32, core.Shape{size}, uint64(s*n+i))
			wg.Go(func() { l.both(i, v) })
		}
	}
	wg.Wait()
}

// both sends v from A to B and back, the receiver first in every other case.
func (l *link) both(i int, v *core.Tensor) {
	edge := fmt.Sprint("edge_", i)
	var there, back <-chan got
	if i%2 == 0 {
		there, back = l.ask(context.Background(), edge), ask(context.Background(), l.a, l.back(edge))
	}
	if err := l.a.Send(l.key(edge), v, false); err != nil {
		l.t.Error(err)
	}
	if err := l.b.Send(l.back(edge), v, false); err != nil {
		l.t.Error(err)
	}
	if i%2 != 0 {
		there, back = l.ask(context.Background(), edge), ask(context.Background(), l.a, l.back(edge))
	}
	for _, c := range []<-chan got{there, back} {
		if g := <-c; g.err != nil || diff(v, g.t) != "" {
			l.t.Errorf("%s: %s, %v", edge, diff(v, g.t), g.err)
		}
	}
}

// checkChangedShape sends under the same key what a receiver that remembers
// the step before does not expect.
func checkChangedShape(t *testing.T, p Pair) {
	for i, v := range []*core.Tensor{
		random(core.Float32, core.Shape{2, 3}, 1), random(core.Float32, core.Shape{2, 3}, 2), random(core.Float32, core.Shape{3, 2}, 3),
		random(core.Float32, core.Shape{100, 200}, 4), random(core.Int16, core.Shape{100, 200}, 5), core.Scalar("text"), core.Scalar("longer text"),
		random(core.Float32, core.Shape{}, 6), random(core.Float32, core.Shape{0}, 7), random(core.Float32, core.Shape{2, 3}, 8),
	} {
		l := p.link(t, int64(i))
		l.exchange("e", v)
		l.send("dead or alive", v, i%2 == 0)
		if _, dead := l.recv("dead or alive"); dead != (i%2 == 0) {
			t.Errorf("step %d: dead = %v", i, dead)
		}
		p.A.Manager.Cleanup(int64(i))
		p.B.Manager.Cleanup(int64(i))
	}
}
