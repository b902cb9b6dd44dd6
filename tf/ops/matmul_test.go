package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/raw"
)

func init() {
	for i := range 4 {
		ta, tb := i&1 == 1, i&2 == 2
		sizes := func(rows, cols int, transposed bool) []int {
			if transposed {
				return []int{cols, rows}
			}
			return []int{rows, cols}
		}
		a, b := sizes(2, 3, ta), sizes(3, 4, tb)
		name := fmt.Sprintf("%v %v", a, b)
		addSamples(
			sample{Op: "MatMul", Name: name, In: []*core.Tensor{seq(a...), seq(b...)}, Tol: 1e-5,
				F: binary(ops.MatMul, ops.MatMulOpts{TransposeA: ta, TransposeB: tb})},
			sample{Op: "BatchMatMulV2", Name: name, In: []*core.Tensor{seq(append([]int{2, 1}, a...)...), seq(append([]int{3}, b...)...)}, Tol: 1e-5,
				F: binary(ops.BatchMatMulV2, ops.BatchMatMulOpts{AdjX: ta, AdjY: tb})},
			sample{Op: "BatchMatMul", Name: name, In: []*core.Tensor{seq(append([]int{2}, a...)...), seq(append([]int{2}, b...)...)}, Tol: 1e-5,
				F: binary(ops.BatchMatMul, ops.BatchMatMulOpts{AdjX: ta, AdjY: tb})},
			sample{Op: "BatchMatMulV2", Name: "complex " + name, In: []*core.Tensor{convert(seq(append([]int{2}, a...)...), tf.Complex64), convert(seq(append([]int{2}, b...)...), tf.Complex64)}, Tol: 1e-5,
				F: binary(ops.BatchMatMulV2, ops.BatchMatMulOpts{AdjX: ta, AdjY: tb})},
			sample{Op: "MatMul", Name: "complex " + name, In: []*core.Tensor{convert(seq(a...), tf.Complex64), convert(seq(b...), tf.Complex64)}, Tol: 1e-5,
				F: binary(ops.MatMul, ops.MatMulOpts{TransposeA: ta, TransposeB: tb})})
	}
	addMatMulEdges()
	addBatchMatMulEdges()
	addFusedMatMuls()
}

func addMatMulEdges() {
	addSamples(
		sample{Op: "MatMul", Name: "larger", In: []*core.Tensor{seq(37, 65), seq(65, 19)}, F: binary(ops.MatMul), Tol: 1e-4, Types: onlyOwn},
		sample{Op: "MatMul", Name: "no rows", In: []*core.Tensor{seq(0, 3), seq(3, 2)}, F: binary(ops.MatMul)},
		sample{Op: "MatMul", Name: "nothing to sum", In: []*core.Tensor{seq(2, 0), seq(0, 2)}, F: binary(ops.MatMul)},
		sample{Op: "MatMul", Name: "inner sizes differ", Fails: true, In: []*core.Tensor{seq(1, 2), seq(3, 4)}, F: binary(ops.MatMul)},
		sample{Op: "MatMul", Name: "inner sizes of transposed differ", Fails: true, In: []*core.Tensor{seq(1, 2), seq(3, 4)}, F: binary(ops.MatMul, ops.MatMulOpts{TransposeA: true})},
		sample{Op: "MatMul", Name: "vector", Fails: true, In: []*core.Tensor{seq(2), seq(2, 4)}, F: binary(ops.MatMul)},
		sample{Op: "MatMul", Name: "vector b", Fails: true, In: []*core.Tensor{seq(1, 2), seq(2)}, F: binary(ops.MatMul)})
}

func addBatchMatMulEdges() {
	addSamples(
		sample{Op: "BatchMatMulV2", Name: "matrices", In: []*core.Tensor{seq(2, 3), seq(3, 2)}, F: binary(ops.BatchMatMulV2), Tol: 1e-5},
		sample{Op: "BatchMatMulV2", Name: "one for all", In: []*core.Tensor{seq(3, 2, 3), seq(3, 2)}, F: binary(ops.BatchMatMulV2), Tol: 1e-5},
		sample{Op: "BatchMatMulV2", Name: "no batches", In: []*core.Tensor{seq(0, 2, 3), seq(3, 2)}, F: binary(ops.BatchMatMulV2)},
		sample{Op: "BatchMatMulV2", Name: "nothing to sum", In: []*core.Tensor{seq(2, 2, 0), seq(2, 0, 2)}, F: binary(ops.BatchMatMulV2)},
		sample{Op: "BatchMatMulV2", Name: "batches unfit", Fails: true, In: []*core.Tensor{seq(2, 1, 2), seq(3, 2, 4)}, F: binary(ops.BatchMatMulV2)},
		sample{Op: "BatchMatMulV2", Name: "vector", Fails: true, In: []*core.Tensor{seq(2), seq(2, 4)}, F: binary(ops.BatchMatMulV2)},
		sample{Op: "BatchMatMulV2", Name: "vector y", Fails: true, In: []*core.Tensor{seq(1, 2), seq(2)}, F: binary(ops.BatchMatMulV2)},
		sample{Op: "BatchMatMul", Name: "batches differ", Fails: true, In: []*core.Tensor{seq(2, 1, 2), seq(1, 2, 4)}, F: binary(raw.BatchMatMul)},
		sample{Op: "BatchMatMul", Name: "ranks differ", Fails: true, In: []*core.Tensor{seq(2, 1, 2), seq(2, 4)}, F: binary(raw.BatchMatMul)})
}

func addFusedMatMuls() {
	for _, act := range []string{"", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "GeluExact", "GeluApproximate"} {
		fused := []string{"BiasAdd"}
		if act != "" {
			fused = append(fused, act)
		}
		noGolden := ""
		if act == "GeluExact" {
			noGolden = "TensorFlow computes it with an optional library"
		}
		addSamples(sample{
			Op: "_FusedMatMul", Name: act, In: []*core.Tensor{seq(3, 2), seq(2, 4), seq(4)}, Tol: 1e-5, NoGolden: noGolden,
			F: applied("_FusedMatMul", tf.Name("fused"), tf.Attr("fused_ops", fused)),
		})
	}
}
