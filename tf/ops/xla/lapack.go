package xla

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// JAX calls LAPACK for linear algebra on CPUs. The targets are LAPACK's names with
// letters of types; the last result of most is info, 0 for matrices without trouble.

func init() {
	ofTypes("sdcz", map[string]rule{"potrf": potrf, "getrf": getrf, "geqrf": geqrf, "trsm": trsm, "gesdd": gesdd})
	ofTypes("sd", map[string]rule{"orgqr": orgqr, "syevd": syevd})
	ofTypes("cz", map[string]rule{"ungqr": orgqr, "heevd": syevd})
	addCustomCalls(map[string]rule{
		"Qr": checked(1, geqrf), "ProductOfElementaryHouseholderReflectors": checked(2, orgqr),
		"LuDecomposition": checked(1, luDecomposition),
	})
}

// ofTypes adds the rules of LAPACK's names for letters of types.
func ofTypes(letters string, family map[string]rule) {
	for name, r := range family {
		operands := 1
		if name == "trsm" || name == "orgqr" || name == "ungqr" {
			operands = 2
		}
		for _, c := range strings.Split(letters, "") {
			addCustomCalls(map[string]rule{"lapack_" + c + name + "_ffi": checked(operands, onMatrices(r))})
		}
	}
}

// onMatrices checks that operand 0 has matrices.
func onMatrices(r rule) rule {
	return func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
		if err := matrices(op, 0); err != nil {
			return nil, err
		}
		return r(l, op, in)
	}
}

// letter returns a letter among the attributes of a call, 0 if there is none.
func letter(op *stablehlo.Op, name string) byte {
	v, _ := dict(op, "mhlo.backend_config", name).(stablehlo.Int)
	return byte(v.Value)
}

// info returns zeros of the batch dimensions.
func info(l *lowering, op *stablehlo.Op, in []tf.Output) tf.Output {
	s := sizesOf(in[0], op.Operands[0].Type)
	return ops.Fill(vector(l.g, s[:len(s)-2]), ops.Scalar(l.g, int32(0)))
}

func potrf(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	return []tf.Output{cholesky(in[0], letter(op, "uplo") == 'L'), info(l, op, in)}, nil
}

func trsm(_ *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := rankOf(op, 1, len(op.Operands[0].Type.Shape)); err != nil {
		return nil, err
	}
	how, ok := map[byte]string{'N': "NO_TRANSPOSE", 'T': "TRANSPOSE", 'C': "ADJOINT"}[letter(op, "trans_x")]
	if !ok {
		return nil, refused(op, "trans_x of %s must be N, T or C, got %q", target(op), letter(op, "trans_x"))
	}
	t := triangle{right: letter(op, "side") == 'R', lower: letter(op, "uplo") == 'L', unit: letter(op, "diag") == 'U', transpose: how}
	return one(t.solved(in[0], in[1])), nil
}

// realOf returns the real parts of complex numbers, as which TensorFlow has values that
// are real.
func realOf(x tf.Output) tf.Output {
	if isComplex(x.DType()) {
		return ops.Real(x)
	}
	return x
}

func syevd(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	x := in[0]
	if letter(op, "uplo") == 'U' {
		x = linalg.Adjoint(x)
	}
	e, v := eigen(x)
	return []tf.Output{v, realOf(e), info(l, op, in)}, nil
}

// gesdd returns what is left of the operand, which nothing uses, singular values, and
// singular vectors, those on the right conjugate-transposed.
func gesdd(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	mode := letter(op, "mode")
	if mode != 'A' && mode != 'S' && mode != 'N' || len(op.Results) != 5 {
		return nil, refused(op, "%s must have mode A, S or N, and five results, got %q and %d", target(op), mode, len(op.Results))
	}
	s, u, v := linalg.Svd(in[0], linalg.SvdOpts{FullMatrices: mode == 'A' || mode == 'N'})
	return []tf.Output{in[0], realOf(s), u, linalg.Adjoint(v), info(l, op, in)}, nil
}

// geqrf returns the upper triangle of a QR decomposition. The vectors that LAPACK keeps
// below, and their factors, are not there: what makes them a matrix, orgqr, finds the
// operand of geqrf.
func geqrf(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := matrices(op, 0); err != nil {
		return nil, err
	}
	s := sizesOf(in[0], op.Operands[0].Type)
	n := len(s)
	if !s[n-2].known() || !s[n-1].known() {
		return nil, unsupported(op, "the matrices of %s must have known sizes", target(op))
	}
	_, r := linalg.Qr(in[0])
	k := min(s[n-2].n, s[n-1].n)
	rows := make([]int, 2*n)
	rows[2*(n-2)+1] = s[n-2].n - k
	if s[n-2].n > k {
		r = ops.Pad(r, int32Table(l.g, rows, 2))
	}
	factors := append(append([]size(nil), s[:n-2]...), known(k))
	return []tf.Output{r, ops.Fill(vector(l.g, factors), number(in[0], 0))}, nil
}

// orgqr returns the orthonormal columns of a QR decomposition, as many as its operand has.
func orgqr(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	from := factored(op.Operands[0])
	if from == nil || factored(op.Operands[1]) != from {
		return nil, unsupported(op, "the reflectors of %s must come from a QR decomposition of the same function", target(op))
	}
	x, err := l.whole(op, from.Operands[0])
	if err != nil {
		return nil, err
	}
	t, s := from.Operands[0].Type.Shape, op.Operands[0].Type.Shape
	n := len(s)
	if len(t) != n || n < 2 || s[n-2] != t[n-2] || s[n-1] < 0 || s[n-1] > s[n-2] {
		return nil, unsupported(op, "the reflectors of %s must have at most as many columns as rows, and those of the matrices that they come from, got shapes %v and %v", target(op), s, t)
	}
	q, _ := linalg.Qr(x, linalg.QrOpts{FullMatrices: s[n-1] > min(t[n-2], t[n-1])})
	if w := q.Shape(); w == nil || int64(w[n-1]) != s[n-1] {
		size := repeat(-1, n)
		size[n-1] = int(s[n-1])
		q = ops.Slice(q, make([]int, n), size)
	}
	return one(q), nil
}

// factored returns the QR decomposition that a value is a slice or a padding of.
func factored(v *stablehlo.Value) *stablehlo.Op {
	v = origin(v, "slice", "pad")
	if v.Def == nil || v.Def.Name != "custom_call" || len(v.Def.Operands) != 1 {
		return nil
	}
	if name := target(v.Def); name == "Qr" || strings.HasPrefix(name, "lapack_") && strings.HasSuffix(name, "geqrf_ffi") {
		return v.Def
	}
	return nil
}
