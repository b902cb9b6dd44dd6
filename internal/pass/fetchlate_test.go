package pass

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/graph/graphtext"
)

// TestFetchLate: what hands a variable to the client reads it itself, late, where
// the variable is, through copies of views that keep others from running early;
// what is computed, and what is in another device's memory, stays.
func TestFetchLate(t *testing.T) {
	const rest = `v = VariableV2[dtype=float32, shape=[2]] @/device:CPU:1
far = VariableV2[dtype=float32, shape=[2]] @/device:FAKE:0
size = Const[dtype=int32, value=int32[1]{2}] @/device:CPU:0
r = Identity(v) @/device:CPU:1
rf = Identity(far) @/device:FAKE:0
view = Reshape(r, size) @/device:CPU:0
use = Neg(view) @/device:CPU:0
`
	g := parse(t, rest+`a = _Retval[index=0](r) @/device:CPU:0
b = _Retval[index=1](view) @/device:CPU:0
c = _Retval[index=2](use) @/device:CPU:0
d = _Retval[index=3](rf) @/device:CPU:0
e = _Retval[index=4](v) @/device:CPU:0`)
	if err := FetchLate(g); err != nil {
		t.Fatal(err)
	}
	same(t, sorted(graphtext.Print(g)), sorted(rest+`a = _Retval[_late=true, index=0](v, ^r) @/device:CPU:1
view/late = Reshape[_late=true](v, size) @/device:CPU:1
b = _Retval[_late=true, index=1](view/late, ^view) @/device:CPU:1
c = _Retval[index=2](use) @/device:CPU:0
d = _Retval[index=3](rf) @/device:CPU:0
e = _Retval[_late=true, index=4](v) @/device:CPU:1`))
	if err := Check(g); err != nil {
		t.Error(err)
	}
}
