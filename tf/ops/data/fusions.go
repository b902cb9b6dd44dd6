package data

import (
	"maps"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An optimization replaces datasets by others of the same elements.
type optimization struct {
	option    protowire.Number
	replace   replacer
	autotune  bool // left out if a program wants nothing tuned
	byDefault bool // done unless a program says no
}

// optimizations are those that a program may ask for, in TensorFlow's order. Of
// TensorFlow's defaults only those that programs notice are done by default: a
// shuffled dataset that is repeated for ever goes on after a round without elements,
// and what is mapped and batched says that it is MapAndBatch.
var optimizations = []optimization{
	{option: optimizationRepeats, replace: fuseShuffleAndRepeat, byDefault: true},
	{option: optimizationMaps, replace: mapInParallel, autotune: true},
	{option: optimizationMapFusion, replace: fuseMaps, autotune: true},
	{option: optimizationFilterFusion, replace: fuseFilters},
	{option: optimizationMapFilter, replace: fuseMapAndFilter},
	{option: optimizationMapBatch, replace: fuseMapAndBatch, byDefault: true},
	{option: optimizationFilters, replace: filterInParallel, autotune: true},
}

// rewritten makes a dataset anew as its options ask for.
func rewritten(t *core.Tensor) (*core.Tensor, error) {
	tuned, set := option(t, optionAutotune, autotuneEnabled)
	wanted := make([]bool, len(optimizations))
	for i, o := range optimizations {
		wanted[i] = o.wanted(t) && (!o.autotune || !set || tuned != 0)
	}
	for i, o := range optimizations {
		if !wanted[i] {
			continue
		}
		var err error
		if t, err = rewrite(t, o.replace); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// wanted reports whether the options of a dataset ask for an optimization.
func (o optimization) wanted(t *core.Tensor) bool {
	if v, ok := option(t, optionOptimization, o.option); ok {
		return v != 0
	}
	return o.byDefault && defaults(t)
}

// as makes a dataset of other inputs by another op, with the attributes that it
// has, and others.
func as(o *dataset.Origin, op string, in []*core.Tensor, attrs core.Attrs) (*core.Tensor, error) {
	def, err := core.LookupOp(op)
	if err != nil {
		return nil, err
	}
	all := core.Attrs{}
	for _, a := range def.AttrDefs {
		if v, ok := o.Node.Attrs[a.Name]; ok {
			all[a.Name] = v
		}
	}
	maps.Copy(all, attrs)
	n, err := core.NewNodeOf(o.Node.Name, def, all)
	if err != nil {
		return nil, err
	}
	changed := *o
	changed.Node = n
	return remade(&changed, in)
}

// mapInParallel makes of a dataset whose function has no state one that calls it
// several times at once.
func mapInParallel(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	if o.Node.OpName() != "MapDataset" || o.Node.Bool("force_synchronous") || withState(o, "f") {
		return nil, nil
	}
	return as(o, "ParallelMapDatasetV2", append(in, core.Scalar(autotuned)), core.Attrs{"deterministic": "true"})
}

// filterInParallel is mapInParallel for conditions.
func filterInParallel(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	if o.Node.OpName() != "FilterDataset" || withState(o, "predicate") {
		return nil, nil
	}
	return as(o, "ParallelFilterDataset", append(in, core.Scalar(autotuned)), core.Attrs{"deterministic": "true"})
}

// autotuned is the number of calls at once by default.
const autotuned = int64(-1)

func withState(o *dataset.Origin, attr string) bool {
	return statefulFunction(libraryOf(o), o.Node.FuncAttr(attr).Name, map[string]bool{}) != ""
}

// before returns how the input of a dataset was made if one of some ops has made
// it, else nil.
func before(in []*core.Tensor, ops ...string) *dataset.Origin {
	if o := dataset.OriginOf(in[0]); o != nil {
		for _, op := range ops {
			if o.Node.OpName() == op {
				return o
			}
		}
	}
	return nil
}

// fuseShuffleAndRepeat shuffles and repeats in one, where the end of a repetition
// and the beginning of the next one may mix.
func fuseShuffleAndRepeat(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	if o.Node.OpName() != "RepeatDataset" {
		return nil, nil
	}
	// TensorFlow fuses, and so refuses, these numbers of rounds too.
	if n := core.Data[int64](in[1])[0]; n == 0 || n < -1 {
		return nil, nil
	}
	const each = "reshuffle_each_iteration"
	if s := before(in, "ShuffleDataset"); s != nil {
		return as(s, "ShuffleAndRepeatDataset", append(s.In[:4:4], in[1]), nil)
	}
	if s := before(in, "ShuffleDatasetV2"); s != nil {
		zero := core.Scalar(int64(0))
		return as(s, "ShuffleAndRepeatDatasetV2", []*core.Tensor{s.In[0], s.In[1], zero, zero, in[1], s.In[2]}, core.Attrs{each: true})
	}
	if s := before(in, "ShuffleDatasetV3"); s != nil {
		t, err := as(s, "ShuffleAndRepeatDatasetV2", append(s.In[:4:4], in[1], s.In[4]), nil)
		if err != nil {
			return nil, err
		}
		return t, shareSeeds(t, in[0])
	}
	return nil, nil
}

// shareSeeds lets a dataset go on with the seeds of the one that it replaces, which are
// that dataset's own unless a generator was given.
func shareSeeds(to, from *core.Tensor) error {
	a, err := dataset.Of(to)
	if err != nil {
		return err
	}
	b, err := dataset.Of(from)
	if err != nil {
		return err
	}
	dataset.ShareSeeds(a, b)
	return nil
}

// fuseMapAndBatch puts what a function returns where it belongs in a batch.
func fuseMapAndBatch(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	if op := o.Node.OpName(); op != "BatchDataset" && op != "BatchDatasetV2" {
		return nil, nil
	}
	m := before(in, "MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2")
	if m == nil || m.Node.Bool("use_unbounded_threadpool") {
		return nil, nil
	}
	args, calls, drop := m.In, core.Scalar(int64(1)), core.Scalar(false)
	if m.Node.OpName() != "MapDataset" {
		last := len(args) - 1
		args, calls = args[:last], args[last]
		if calls.DType() == tf.Int32 {
			calls = core.Scalar(int64(core.Data[int32](calls)[0]))
		}
	}
	if len(in) > 2 {
		drop = in[2]
	}
	return as(m, "MapAndBatchDataset", append(args[:len(args):len(args)], in[1], calls, drop),
		core.Attrs{"output_types": o.Node.Attr("output_types"), "output_shapes": o.Node.Attr("output_shapes")})
}

// fuseMaps calls two functions in one.
func fuseMaps(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	m := before(in, o.Node.OpName())
	if m == nil || !fusableMap(o.Node, in) || !fusableMap(m.Node, m.In) || ordered(o.Node) != ordered(m.Node) {
		return nil, nil
	}
	u := newFuser(m, o, "f", "f")
	if u == nil {
		return nil, nil
	}
	f, err := u.composed(u.name("map_fusion_funcs"))
	if f == nil || err != nil {
		return nil, err
	}
	attrs := core.Attrs{"f": core.Func{Name: f.GetSignature().GetName()}}
	attrs["use_inter_op_parallelism"] = o.Node.Bool("use_inter_op_parallelism") || m.Node.Bool("use_inter_op_parallelism")
	attrs["preserve_cardinality"] = o.Node.Bool("preserve_cardinality") && m.Node.Bool("preserve_cardinality")
	changed := *o
	if changed.Functions, err = u.with(f); err != nil {
		return nil, err
	}
	return as(&changed, o.Node.OpName(), append(m.In[:1:1], in[1:]...), attrs)
}

func fusableMap(n *core.Node, in []*core.Tensor) bool {
	switch n.OpName() {
	case "MapDataset":
		return len(in) == 1
	case "ParallelMapDatasetV2":
		return len(in) == 2 && core.Data[int64](in[1])[0] == autotuned && !n.Bool("use_unbounded_threadpool")
	}
	return false
}

func ordered(n *core.Node) bool { return n.Str("deterministic") != "false" }

// fuseFilters asks for two conditions in one.
func fuseFilters(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	first := before(in, "FilterDataset")
	if first == nil || o.Node.OpName() != "FilterDataset" {
		return nil, nil
	}
	u := newFuser(first, o, "predicate", "predicate")
	if u == nil {
		return nil, nil
	}
	f, never, err := u.both(u.name("filter_fusion_funcs"))
	if f == nil || err != nil {
		return nil, err
	}
	changed := *o
	if changed.Functions, err = u.with(f, never); err != nil {
		return nil, err
	}
	return as(&changed, "FilterDataset", first.In, core.Attrs{"predicate": core.Func{Name: f.GetSignature().GetName()}})
}

// fuseMapAndFilter asks for the condition where the function is called: its answer
// is a last component, which is taken away behind the filter.
func fuseMapAndFilter(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	m := before(in, "MapDataset")
	if m == nil || o.Node.OpName() != "FilterDataset" {
		return nil, nil
	}
	u := newFuser(m, o, "f", "predicate")
	if u == nil {
		return nil, nil
	}
	f, err := u.combined(u.name("map_and_filter_fusion_funcs"))
	if f == nil || err != nil {
		return nil, err
	}
	out := f.GetSignature().GetOutputArg()
	last, rest := chosen(f.GetSignature().GetName()+"/last", out, len(out)-1, len(out)), chosen(f.GetSignature().GetName()+"/rest", out, 0, len(out)-1)
	of, filter := *m, *o
	if of.Functions, err = u.with(f, last, rest); err != nil {
		return nil, err
	}
	filter.Functions = of.Functions
	s := declared(m.Node)
	more := core.Attrs{"output_types": append(s.Types[:len(s.Types):len(s.Types)], tf.Bool), "output_shapes": append(s.Shapes[:len(s.Shapes):len(s.Shapes)], tf.Shape{})}
	return inTurn(m.In, []step{
		{&of, "MapDataset", core.Attrs{"f": core.Func{Name: f.GetSignature().GetName()}, "output_types": more["output_types"], "output_shapes": more["output_shapes"]}},
		{&filter, "FilterDataset", core.Attrs{"predicate": core.Func{Name: last.GetSignature().GetName()}, "output_types": more["output_types"], "output_shapes": more["output_shapes"]}},
		{&of, "MapDataset", core.Attrs{"f": core.Func{Name: rest.GetSignature().GetName()}}},
	})
}

// A step says by which op and attributes a dataset is made like another one.
type step struct {
	like  *dataset.Origin
	op    string
	attrs core.Attrs
}

// inTurn makes datasets one of the other.
func inTurn(in []*core.Tensor, steps []step) (t *core.Tensor, err error) {
	for _, s := range steps {
		if t, err = as(s.like, s.op, in, s.attrs); err != nil {
			return nil, err
		}
		in = []*core.Tensor{t}
	}
	return t, nil
}
