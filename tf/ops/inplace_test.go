package ops_test

import "github.com/gorge-tf/gorge/tf/core"

func init() {
	rows := i32(2, -1, 5)
	for _, op := range []string{"InplaceUpdate", "InplaceAdd", "InplaceSub"} {
		f := applied(op)
		addSamples(
			sample{Op: op, In: []*core.Tensor{seq(4, 3), rows, positive(3, 3)}, F: f},
			sample{Op: op, Name: "vector", In: []*core.Tensor{seq(5), i32(1, 1), positive(2)}, F: f, Types: onlyOwn},
			sample{Op: op, Name: "nothing", In: []*core.Tensor{seq(5), i32(), seq(0)}, F: f, Types: onlyOwn},
			failing(op, "rank", f, seq(4, 3), rows, seq(3)),
			failing(op, "matrix", f, seq(4, 3), mat[int32](1, 1), seq(1, 3)),
			failing(op, "width", f, seq(4, 3), rows, seq(3, 2)),
			failing(op, "count", f, seq(4, 3), rows, seq(2, 3)),
			sample{Op: op, Name: "bad scalar", In: []*core.Tensor{seq(), i32(), seq()}, F: f, Fails: true, Types: onlyOwn, NoGolden: "TensorFlow ends"})
	}
	addSamples(
		sample{Op: "InplaceUpdate", Name: "strings", In: []*core.Tensor{vec("a", "b"), i32(1), vec("c")}, F: applied("InplaceUpdate"), Types: onlyOwn},
		sample{Op: "InplaceUpdate", Name: "bools", In: []*core.Tensor{vec(true, true), i32(1), vec(false)}, F: applied("InplaceUpdate"), Types: onlyOwn},
		sample{Op: "DeepCopy", In: []*core.Tensor{seq(2, 3)}, F: applied("DeepCopy")},
		sample{Op: "DeepCopy", Name: "none", In: []*core.Tensor{seq(0, 3)}, F: applied("DeepCopy"), Types: onlyOwn},
	)
}
