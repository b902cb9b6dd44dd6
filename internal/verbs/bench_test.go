package verbs_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
)

// BenchmarkReceive measures a value's way from one task to the other.
func BenchmarkReceive(b *testing.B) {
	for _, n := range []int{4, 64 << 10, 10 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newCluster()
			c.arena = true
			p := rendezvoustest.Pair{
				A: c.join(b, rendezvoustest.TaskA, rendezvoustest.TaskB),
				B: c.join(b, rendezvoustest.TaskB, rendezvoustest.TaskA),
			}
			v := full(n, 1)
			b.SetBytes(int64(n))
			id := int64(0)
			for b.Loop() {
				id++
				s := begin(b, p, id)
				s.send("e", v)
				o := <-s.recv("e")
				if o.err != nil {
					b.Fatal(o.err)
				}
				o.t.Release()
				p.A.Manager.Cleanup(id)
				p.B.Manager.Cleanup(id)
			}
		})
	}
}
