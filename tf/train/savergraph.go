package train

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A builder adds the operations of a saver, named as TensorFlow names them.
type builder struct {
	g *tf.Graph
	o *SaverOptions
	// staged, if not empty, is the scope of asynchronous saves: what is saved passes
	// through staging areas of that name, which keeps fill.
	staged string
	keeps  []*tf.Operation
	// keys, if not nil, returns the key under which an object-based checkpoint has a
	// tensor. With fedKeys, they are fed to loads.
	keys    func(name string) string
	fedKeys bool
	loads   []keyedLoad
}

// A keyedLoad is an operation that reads the tensors whose keys it is fed.
type keyedLoad struct {
	keys  tf.Output
	names []string
}

// build adds all and notes their names in def.
func (b *builder) build(items []item, def *pb.SaverDef) error {
	name := b.o.Name
	if name == "" {
		name = "save"
	}
	var save tf.Output
	var restore *tf.Operation
	b.g.Scope(name, func() {
		file := ops.Scalar(b.g, "model", tf.Name("filename/input"))
		file = ops.PlaceholderWithDefault(file, tf.Shape{}, tf.Name("filename"))
		file = ops.PlaceholderWithDefault(file, tf.Shape{}, tf.Name("Const"))
		def.FilenameTensorName = outputName(file)
		save, restore = b.saveAll(file, items), b.restoreAll(file, items)
	})
	if err := save.Err(); err != nil {
		return err
	}
	def.SaveTensorName, def.RestoreOpName = outputName(save), restore.Name
	return restore.Err()
}

// sharded reports whether each device writes a file of its own.
func (b *builder) sharded() bool { return b.o.Sharded && !b.o.V1 }

// saveAll adds what saves items, in shards or not.
func (b *builder) saveAll(prefix tf.Output, items []item) tf.Output {
	if b.sharded() {
		return b.saveShards(prefix, items)
	}
	return b.save(prefix, items)
}

// restoreAll adds what restores items, on their devices or on one.
func (b *builder) restoreAll(prefix tf.Output, items []item) *tf.Operation {
	if b.sharded() {
		return b.restoreShards(prefix, items)
	}
	return b.restore(prefix, items, "restore_all")
}

// outputName is the name of x as SaverDefs have it, with the number.
func outputName(x tf.Output) string {
	if name := x.Name(); strings.Contains(name, ":") {
		return name
	}
	return x.Name() + ":0"
}

// saveNow saves items of an eager graph.
func (b *builder) saveNow(items []item, file string) (string, error) {
	out, err := b.save(ops.Scalar(b.g, file), items).Value()
	if err != nil {
		return "", err
	}
	return tf.Data[string](out)[0], nil
}

// restoreNow restores items of an eager graph.
func (b *builder) restoreNow(items []item, file string) error {
	return b.restore(ops.Scalar(b.g, file), items, "restore_all").Err()
}

// strings adds a constant vector of exactly that name.
func (b *builder) strings(name string, v []string) tf.Output {
	t, err := tf.FromSlice(v)
	if err != nil {
		return tf.Failed(b.g, name, err).Output(0)
	}
	return tf.Apply(b.g, "Const", nil, tf.Attr("value", t), tf.Attr("dtype", tf.String), tf.Name(name)).Output(0)
}

// specs returns what is saved of items.
func specs(items []item) (names, slices []string, tensors []tf.Output) {
	for _, it := range items {
		for _, s := range it.specs() {
			names, slices, tensors = append(names, s.Name), append(slices, s.Slice), append(tensors, s.Tensor())
		}
	}
	return names, slices, tensors
}

// save adds what saves items under the name that prefix has, and returns that
// name once they are saved.
func (b *builder) save(prefix tf.Output, items []item) tf.Output {
	names, parts, tensors := specs(items)
	if b.staged != "" {
		tensors = b.through(tensors)
	}
	op, second, add := "SaveV2", "shape_and_slices", checkpoint.SaveV2
	if b.o.V1 {
		op, second, add = "save", "shapes_and_slices", checkpoint.SaveSlices
	}
	whole := b.g.UniqueName(op)
	saved := add(prefix, b.strings(whole+"/tensor_names/", names), b.strings(whole+"/"+second+"/", parts), tensors, tf.Name(whole+"/"))
	return ops.Identity(prefix, tf.Name("control_dependency"), tf.After(saved), tf.ColocateWith(prefix.Operation()))
}

// A group is what one device has of a saver's items.
type group struct {
	device string
	items  []item
}

// groups splits items by device, in the order of devices.
func groups(items []item) (out []group) {
	by := map[string][]item{}
	for _, it := range items {
		d := it.device()
		by[d] = append(by[d], it)
	}
	for _, d := range slices.Sorted(maps.Keys(by)) {
		out = append(out, group{d, by[d]})
	}
	return out
}

// firstCPU returns the first CPU of the task that a device belongs to.
func firstCPU(device string) string {
	d, err := tf.ParseDevice(device)
	if err != nil {
		return device
	}
	cpu, _ := tf.ParseDevice("/device:CPU:0")
	return d.Override(cpu).String()
}

// saveShards adds a save for each device, to files that become one checkpoint
// when all are there.
func (b *builder) saveShards(prefix tf.Output, items []item) (name tf.Output) {
	parts := groups(items)
	var temp, shards tf.Output
	b.g.Device("/device:CPU:*", func() {
		remote := ops.StaticRegexFullMatch(prefix, "^s3://.*")
		suffix := ops.Select(remote, ops.Scalar(b.g, ".part"), ops.Scalar(b.g, "_temp/part"))
		temp = ops.StringJoin(b.g, []tf.Output{prefix, suffix})
	})
	shards = ops.Scalar(b.g, int32(len(parts)), tf.Name("num_shards"))
	var names []tf.Output
	var done []*tf.Operation
	for i, p := range parts {
		b.g.Device(firstCPU(p.device), func() {
			base := b.g.UniqueName("ShardedFilename")
			shard := ops.Scalar(b.g, int32(i), tf.Name(base+"/shard/"))
			file := ops.ShardedFilename(temp, shard, shards, tf.Name(base+"/"))
			names, done = append(names, file), append(done, b.save(file, p.items).Operation())
		})
	}
	b.g.Device(firstCPU(parts[len(parts)-1].device), func() {
		all := ops.Pack(names, tf.Name("MergeV2Checkpoints/checkpoint_prefixes"), tf.After(done...))
		merged := checkpoint.MergeV2Checkpoints(all, prefix, tf.Name(b.g.CurrentScope()+"MergeV2Checkpoints/"))
		name = ops.Identity(prefix, tf.After(append(slices.Clone(done), merged)...))
	})
	return name
}

// restoreShards adds a restore on each device.
func (b *builder) restoreShards(prefix tf.Output, items []item) *tf.Operation {
	var all []*tf.Operation
	for _, p := range groups(items) {
		b.g.Device(p.device, func() { all = append(all, b.restore(prefix, p.items, "restore_shard")) })
	}
	return tf.Group(b.g, "restore_all", all...)
}

// restore adds what restores items, and an operation of that name for the whole.
func (b *builder) restore(prefix tf.Output, items []item, name string) *tf.Operation {
	if b.o.RestoreSequentially {
		return b.restoreInTurn(prefix, items, name)
	}
	values := b.load(prefix, items)
	var all []*tf.Operation
	for _, it := range items {
		n := len(it.specs())
		all = append(all, it.restore(values[:n], b.o.Reshape))
		values = values[n:]
	}
	return b.group(name, all)
}

// restoreInTurn reads the values of an item when the one before has been
// restored.
func (b *builder) restoreInTurn(prefix tf.Output, items []item, name string) *tf.Operation {
	var all, before []*tf.Operation
	for _, it := range items {
		b.g.ControlDependencies(before, func() {
			op := it.restore(b.load(prefix, []item{it}), b.o.Reshape)
			all, before = append(all, op), []*tf.Operation{op}
		})
	}
	return b.group(name, all)
}

// group is tf.Group, in an eager graph the first failure.
func (b *builder) group(name string, all []*tf.Operation) *tf.Operation {
	if !b.g.IsEager() {
		return tf.Group(b.g, name, all...)
	}
	for _, op := range all {
		if op.Err() != nil {
			return op
		}
	}
	return all[0]
}

func (b *builder) keyOf(name string) string {
	if b.keys == nil {
		return name
	}
	return b.keys(name)
}

// load adds an operation that reads the values of items.
func (b *builder) load(prefix tf.Output, items []item) (values []tf.Output) {
	var names, parts []string
	var types []tf.DType
	for _, it := range items {
		for _, s := range it.specs() {
			names, parts, types = append(names, b.keyOf(s.Name)), append(parts, s.Slice), append(types, s.DType)
		}
	}
	b.g.Device("/device:CPU:0", func() {
		scope := b.g.UniqueName("RestoreV2")
		n, p := b.strings(scope+"/tensor_names/", names), b.strings(scope+"/shape_and_slices/", parts)
		if b.fedKeys {
			n = ops.PlaceholderWithDefault(n, tf.Shape{len(names)})
			b.loads = append(b.loads, keyedLoad{n, names})
		}
		values = checkpoint.RestoreV2(prefix, n, p, types, tf.Name(scope+"/"))
	})
	return values
}

// assign adds what gives v a value of a checkpoint.
func assign(v *tf.Variable, x tf.Output, reshape bool) (op *tf.Operation) {
	if reshape {
		x = reshaped(v, x)
	} else if x.Shape() == nil && v.Shape().Known() && !v.Graph().IsEager() {
		x.SetShape(v.Shape())
	}
	whole := !reshape && v.Shape().Known()
	if v.IsReference() {
		beside(v, func() {
			op = tf.Apply(nil, "Assign", []tf.Output{v.Handle(), x}, tf.Attr("validate_shape", whole), tf.ColocateWith(v.Handle().Operation()))
		})
		return op
	}
	beside(v, func() {
		// TensorFlow has an Identity here and lets a value of any shape pass.
		x = tf.Apply(nil, "EnsureShape", []tf.Output{x}, tf.Attr("shape", v.Shape()), tf.Name("Identity")).Output(0)
		op = ops.AssignVariableOp(v.Handle(), x, tf.Attr("dtype", v.DType()))
	})
	return op
}

// reshaped returns x in the shape of v, or of v's value if the shape is not
// fixed.
func reshaped(v *tf.Variable, x tf.Output) tf.Output {
	if err := core.CheckSize(v.DType(), v.Shape()); err != nil {
		return ops.Reshape(x, ops.Shape(v.Read()))
	}
	if slices.ContainsFunc(v.Shape(), func(d int) bool { return d > math.MaxInt32 }) {
		return ops.Reshape(x, sizes[int64](v))
	}
	return ops.Reshape(x, sizes[int32](v))
}

// sizes is a constant of v's shape.
func sizes[T int32 | int64](v *tf.Variable) tf.Output {
	dims := make([]T, len(v.Shape()))
	for i, d := range v.Shape() {
		dims[i] = T(d)
	}
	return ops.Const(v.Graph(), dims, len(dims))
}
