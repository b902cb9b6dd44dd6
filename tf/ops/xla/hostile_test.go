package xla

import (
	"archive/zip"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestHostile lowers modules of which an attribute, a type or an operand is not what it
// was. Whatever comes of it, it is an error of an operation or a graph, never a panic.
func TestHostile(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	refused := 0
	for name, data := range familyModules(t) {
		for round := range rounds {
			r := rand.New(rand.NewPCG(uint64(round), uint64(len(name))))
			m, err := stablehlo.Read(data)
			if err != nil {
				t.Fatal(name, err)
			}
			what := spoil(r, m)
			if err := lowerAll(m); err != nil {
				refused++
				if !strings.Contains(err.Error(), "StableHLO") {
					t.Errorf("%s, %s: an error must name the operation, got %v", name, what, err)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// familyModules returns the modules of testdata/families.zip.
func familyModules(t *testing.T) map[string][]byte {
	z, err := zip.OpenReader("testdata/families.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	modules := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		r.Close()
		def := &pb.GraphDef{}
		if err != nil || proto.Unmarshal(data, def) != nil {
			t.Fatal(f.Name, err)
		}
		for _, n := range def.Node {
			if n.Name == "call" {
				modules[f.Name] = n.Attr["module"].GetS()
			}
		}
	}
	return modules
}

// lowerAll puts the function main into a graph.
func lowerAll(m *stablehlo.Module) error {
	_, err := lowered(m)
	return err
}

func lowered(m *stablehlo.Module) (*tf.Graph, error) {
	l := newLowering(m, tf.NewGraph(), func(int) error { return nil })
	main := m.Func("main")
	var in []tf.Output
	for _, a := range main.Body.Args {
		in = append(in, ops.Placeholder(l.g, dtypes[a.Type.Elem], shapeOf(a.Type)))
	}
	l.calls = append(l.calls, main)
	_, err := l.block(main.Body, in)
	return l.g, err
}

// spoil changes one thing of a module, and says what.
func spoil(r *rand.Rand, m *stablehlo.Module) string {
	var all []*stablehlo.Op
	for _, f := range m.Funcs {
		all = append(all, opsOf(f.Body)...)
	}
	op := all[r.IntN(len(all))]
	for range 20 { // rather one with attributes
		if op = all[r.IntN(len(all))]; len(op.Attrs) > 0 && op.Name != "constant" {
			break
		}
	}
	names := slices.Sorted(maps.Keys(op.Attrs))
	switch k := r.IntN(10); {
	case k < 7 && len(names) > 0:
		name := names[r.IntN(len(names))]
		op.Attrs[name] = spoiled(r, op.Attrs[name])
		return op.Name + " " + name
	case k == 7 && len(op.Operands) > 0:
		v := *op.Operands[r.IntN(len(op.Operands))]
		v.Type.Shape = spoiledShape(r, v.Type.Shape)
		*op.Operands[r.IntN(len(op.Operands))] = v
		return op.Name + " type"
	case k == 8 && len(op.Operands) > 0:
		op.Operands = op.Operands[:len(op.Operands)-1]
		return op.Name + " operands"
	case len(op.Regions) > 0:
		op.Regions = op.Regions[1:]
		return op.Name + " regions"
	}
	return "nothing"
}

func opsOf(b *stablehlo.Block) (all []*stablehlo.Op) {
	for _, op := range b.Ops {
		all = append(all, op)
		for _, r := range op.Regions {
			all = append(all, opsOf(r)...)
		}
	}
	return all
}

// spoiled returns another attribute of the same type, or of another one.
func spoiled(r *rand.Rand, a stablehlo.Attr) stablehlo.Attr {
	n := []int64{-1, 0, 1, 2, 3, 7, math.MaxInt32, math.MaxInt64, math.MinInt64}[r.IntN(9)]
	if r.IntN(6) == 0 {
		return []stablehlo.Attr{nil, stablehlo.String("x"), stablehlo.Int{Elem: "i64", Value: n}, stablehlo.Bool(true), stablehlo.Array{}, stablehlo.Enum("X")}[r.IntN(6)]
	}
	switch a := a.(type) {
	case stablehlo.Int:
		return stablehlo.Int{Elem: a.Elem, Value: n}
	case stablehlo.Bool:
		return !a
	case stablehlo.Dense:
		return spoiledDense(r, a, n)
	}
	return nil
}

func spoiledDense(r *rand.Rand, d stablehlo.Dense, n int64) stablehlo.Attr {
	switch k := r.IntN(4); {
	case k == 0:
		d.Type.Shape = spoiledShape(r, d.Type.Shape)
	case len(d.Data) >= 8:
		d.Data = append([]byte(nil), d.Data...)
		at := r.IntN(len(d.Data)/8) * 8
		for i := range 8 {
			d.Data[at+i] = byte(n >> (8 * i))
		}
	default:
		d.Type.Shape, d.Data = []int64{1}, []byte{byte(n), 0, 0, 0, 0, 0, 0, 0}
	}
	return d
}

func spoiledShape(r *rand.Rand, s []int64) []int64 {
	s = append([]int64(nil), s...)
	if len(s) == 0 || r.IntN(3) == 0 {
		return append(s, int64(r.IntN(3)))
	}
	at := r.IntN(len(s))
	if r.IntN(2) == 0 {
		return append(s[:at], s[at+1:]...)
	}
	s[at] = []int64{-1, 0, 1, 5, 1 << 40, math.MaxInt64}[r.IntN(6)]
	return s
}
