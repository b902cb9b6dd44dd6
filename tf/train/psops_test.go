package train

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/lookup" // registers
	_ "github.com/gorge-tf/gorge/tf/ops/queue"  // registers
)

// TestPSOps: of the operations that there are, those of TensorFlow's list go to
// parameter servers, and those of a program's own that say so.
func TestPSOps(t *testing.T) {
	if core.Lookup("TestKeepsWhatIsTrained") == nil { // with -count it is there already
		core.Register(core.OpDef{Name: "TestKeepsWhatIsTrained", Traits: core.Parameter, Out: "h: resource", Stateful: true,
			Shape: core.ScalarShape, NoGrad: core.NotDifferentiable})
	}
	want := []string{"TestKeepsWhatIsTrained"}
	for _, name := range []string{
		"Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2", "MutableHashTableOfTensors",
		"MutableHashTableOfTensorsV2", "MutableDenseHashTable", "MutableDenseHashTableV2", "VarHandleOp",
		"BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
		"DecisionTreeResource",
	} {
		if core.Lookup(name) != nil {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if got := PSOps(); !slices.Equal(got, want) {
		t.Errorf("parameter servers get %v, want %v", got, want)
	}
}
