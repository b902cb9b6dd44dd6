package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
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
			sample{op: "MatMul", name: name, in: []*tf.Tensor{seq(a...), seq(b...)}, tol: 1e-5,
				f: binary(ops.MatMul, ops.MatMulOpts{TransposeA: ta, TransposeB: tb})},
			sample{op: "BatchMatMulV2", name: name, in: []*tf.Tensor{seq(append([]int{2, 1}, a...)...), seq(append([]int{3}, b...)...)}, tol: 1e-5,
				f: binary(ops.BatchMatMulV2, ops.BatchMatMulOpts{AdjX: ta, AdjY: tb})},
			sample{op: "BatchMatMul", name: name, in: []*tf.Tensor{seq(append([]int{2}, a...)...), seq(append([]int{2}, b...)...)}, tol: 1e-5,
				f: binary(ops.BatchMatMul, ops.BatchMatMulOpts{AdjX: ta, AdjY: tb})},
			sample{op: "BatchMatMulV2", name: "complex " + name, in: []*tf.Tensor{convert(seq(append([]int{2}, a...)...), tf.Complex64), convert(seq(append([]int{2}, b...)...), tf.Complex64)}, tol: 1e-5,
				f: binary(ops.BatchMatMulV2, ops.BatchMatMulOpts{AdjX: ta, AdjY: tb})},
			sample{op: "MatMul", name: "complex " + name, in: []*tf.Tensor{convert(seq(a...), tf.Complex64), convert(seq(b...), tf.Complex64)}, tol: 1e-5,
				f: binary(ops.MatMul, ops.MatMulOpts{TransposeA: ta, TransposeB: tb})})
	}
	addMatMulEdges()
	addBatchMatMulEdges()
	addFusedMatMuls()
}

func addMatMulEdges() {
	addSamples(
		sample{op: "MatMul", name: "larger", in: []*tf.Tensor{seq(37, 65), seq(65, 19)}, f: binary(ops.MatMul), tol: 1e-4, types: onlyOwn},
		sample{op: "MatMul", name: "no rows", in: []*tf.Tensor{seq(0, 3), seq(3, 2)}, f: binary(ops.MatMul)},
		sample{op: "MatMul", name: "nothing to sum", in: []*tf.Tensor{seq(2, 0), seq(0, 2)}, f: binary(ops.MatMul)},
		sample{op: "MatMul", name: "inner sizes differ", fails: true, in: []*tf.Tensor{seq(1, 2), seq(3, 4)}, f: binary(ops.MatMul)},
		sample{op: "MatMul", name: "inner sizes of transposed differ", fails: true, in: []*tf.Tensor{seq(1, 2), seq(3, 4)}, f: binary(ops.MatMul, ops.MatMulOpts{TransposeA: true})},
		sample{op: "MatMul", name: "vector", fails: true, in: []*tf.Tensor{seq(2), seq(2, 4)}, f: binary(ops.MatMul)},
		sample{op: "MatMul", name: "vector b", fails: true, in: []*tf.Tensor{seq(1, 2), seq(2)}, f: binary(ops.MatMul)})
}

func addBatchMatMulEdges() {
	addSamples(
		sample{op: "BatchMatMulV2", name: "matrices", in: []*tf.Tensor{seq(2, 3), seq(3, 2)}, f: binary(ops.BatchMatMulV2), tol: 1e-5},
		sample{op: "BatchMatMulV2", name: "one for all", in: []*tf.Tensor{seq(3, 2, 3), seq(3, 2)}, f: binary(ops.BatchMatMulV2), tol: 1e-5},
		sample{op: "BatchMatMulV2", name: "no batches", in: []*tf.Tensor{seq(0, 2, 3), seq(3, 2)}, f: binary(ops.BatchMatMulV2)},
		sample{op: "BatchMatMulV2", name: "nothing to sum", in: []*tf.Tensor{seq(2, 2, 0), seq(2, 0, 2)}, f: binary(ops.BatchMatMulV2)},
		sample{op: "BatchMatMulV2", name: "batches unfit", fails: true, in: []*tf.Tensor{seq(2, 1, 2), seq(3, 2, 4)}, f: binary(ops.BatchMatMulV2)},
		sample{op: "BatchMatMulV2", name: "vector", fails: true, in: []*tf.Tensor{seq(2), seq(2, 4)}, f: binary(ops.BatchMatMulV2)},
		sample{op: "BatchMatMulV2", name: "vector y", fails: true, in: []*tf.Tensor{seq(1, 2), seq(2)}, f: binary(ops.BatchMatMulV2)},
		sample{op: "BatchMatMul", name: "batches differ", fails: true, in: []*tf.Tensor{seq(2, 1, 2), seq(1, 2, 4)}, f: binary(ops.BatchMatMul)},
		sample{op: "BatchMatMul", name: "ranks differ", fails: true, in: []*tf.Tensor{seq(2, 1, 2), seq(2, 4)}, f: binary(ops.BatchMatMul)})
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
			op: "_FusedMatMul", name: act, in: []*tf.Tensor{seq(3, 2), seq(2, 4), seq(4)}, tol: 1e-5, noGolden: noGolden,
			f: applied("_FusedMatMul", tf.Name("fused"), tf.Attr("fused_ops", fused)),
		})
	}
}
