package pass

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/graph/graphtext"
)

// TestReadLate: a counter is read by its users, after its Identity; a float is
// not, and neither is what goes into a loop.
func TestReadLate(t *testing.T) {
	g := parse(t, `v = VariableV2[dtype=int32, shape=[]]
w = VariableV2[dtype=float32, shape=[]]
one = Placeholder[dtype=int32, shape=[]]
rv = Identity(v)
rw = Identity(w)
add = AssignAdd(v, one)
x = Neg(rv, ^add)
y = Neg(rw)
z = Enter[frame_name="f"](rv)`)
	if err := ReadLate(g); err != nil {
		t.Fatal(err)
	}
	same(t, sorted(graphtext.Print(g)), sorted(`v = VariableV2[dtype=int32, shape=[]]
w = VariableV2[dtype=float32, shape=[]]
one = Placeholder[dtype=int32, shape=[]]
rv = Identity(v)
rw = Identity(w)
add = AssignAdd(v, one)
x = Neg(v, ^add, ^rv)
y = Neg(rw)
z = Enter[frame_name="f"](rv)`))
}

// TestReadLateInLoops: what a loop updates it reads anew in each iteration.
func TestReadLateInLoops(t *testing.T) {
	const rest = `v = VariableV2[dtype=float32, shape=[]]
w = VariableV2[dtype=float32, shape=[]]
rv = Identity(v)
rw = Identity(w)
update = RefEnter[frame_name="f", is_constant=true](v)
elsewhere = RefEnter[frame_name="g", is_constant=true](w)
first = Enter[frame_name="f"](rv)
y = Enter[frame_name="f", is_constant=true](rw)
`
	g := parse(t, rest+`x = Enter[frame_name="f", is_constant=true](rv)`)
	if err := ReadLate(g); err != nil {
		t.Fatal(err)
	}
	same(t, sorted(graphtext.Print(g)), sorted(rest+`x = RefEnter[frame_name="f", is_constant=true](v, ^rv)`))
}
