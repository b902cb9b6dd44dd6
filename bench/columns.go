package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

const columnsBatch = 512

// columns is workload 23: serialized tf.Examples become logits.
func columns(b *bench) {
	records := tensor(people(columnsBatch), columnsBatch)
	for name, model := range map[string]func(r tf.Output) tf.Output{"wide.": wide, "deep.": deep} {
		if !b.wants(name) {
			continue
		}
		g := tf.NewGraph()
		serialized := ops.Placeholder(g, tf.String, tf.Shape{-1})
		logits := model(serialized)
		s := b.open(g, false)
		must(s.Run(ctx, nil, weights(g)...))
		for _, op := range g.Collection(train.TableInitializersCollection) {
			must(s.Run(ctx, nil, op.(*tf.Operation)))
		}
		c := must(s.MakeCallable([]tf.Output{serialized}, logits))
		sum := 0.0
		for i, y := range tf.Data[float32](must(c.Run(ctx, records))[0]) {
			sum += float64(y) * float64(i%7)
		}
		b.check(name+"logits", sum, nil)
		t := b.best(b.steps(50), b.repeat, func() { must(c.Run(ctx, records)) })
		b.emit(name+"examples_per_s", columnsBatch/t, "ops/s")
		s.Close()
	}
}

// weights gives the variables, in the order of their names, the workload's values.
func weights(g *tf.Graph) (assign []tf.Fetchable) {
	all := tf.Variables(g, tf.TrainableVariables)
	slices.SortFunc(all, func(a, b *tf.Variable) int { return strings.Compare(a.Name(), b.Name()) })
	for i, v := range all {
		assign = append(assign, v.Assign(ops.Const(g, uniform(uint32(i+1), v.Shape().NumElements(), 0.1), v.Shape()...)))
	}
	return assign
}

var (
	jobs = []string{"cook", "clerk", "nurse", "pilot", "smith", "tailor", "teacher", "farmer"}
	ages = []float32{18, 25, 30, 35, 40, 45, 50, 55, 60, 65}
)

// people returns n serialized records: three features of numbers, three of one
// word or id each, and a bag of 0 to 4 words.
func people(n int) []string {
	out := make([]string, n)
	age, hours, scores := labels(1012, n, 80), labels(1013, n, 60), uniform(1014, 4*n, 1)
	job, city, user := labels(1015, n, len(jobs)), labels(1016, n, 3000), labels(1017, n, 1000)
	many, words := labels(1018, n, 5), labels(1019, 4*n, 5000)
	for i := range out {
		var bag []string
		for k := range many[i] {
			bag = append(bag, "word"+strconv.Itoa(int(words[4*i+int(k)])))
		}
		e := example.Example{
			"age": example.Floats(float32(age[i])), "hours": example.Floats(float32(hours[i])), "scores": example.Floats(scores[4*i : 4*i+4]...),
			"job": example.Strings(jobs[job[i]]), "city": example.Strings("city" + strconv.Itoa(int(city[i]))),
			"user": example.Ints(int64(user[i])), "words": example.Strings(bag...),
		}
		out[i] = string(e.Marshal())
	}
	return out
}

// wide is a linear model over buckets, words and what they are together.
func wide(serialized tf.Output) tf.Output {
	age := feature.Bucketized(feature.Numeric("age"), ages...)
	job := feature.Vocabulary("job", jobs...)
	all := []feature.Column{
		age, job, feature.Numeric("hours"), feature.Hashed("city", 1000), feature.Hashed("words", 2000),
		feature.Identity("user", 1000), feature.Crossed(5000, age, job), feature.Crossed(10000, "city", job),
	}
	f := must(feature.MakeParseSpec(all...)).Parse(serialized)
	return feature.LinearModel(f, all)
}

// deep is a network of two layers over numbers and embeddings.
func deep(serialized tf.Output) tf.Output {
	all := []feature.Dense{
		feature.Numeric("age"), feature.Numeric("hours"), &feature.NumericColumn{Key: "scores", Shape: []int{4}},
		feature.Bucketized(feature.Numeric("age"), ages...), feature.Indicator(feature.Vocabulary("job", jobs...)),
		feature.Embedding(feature.Hashed("city", 1000), 16), feature.Embedding(feature.Identity("user", 1000), 16),
		feature.Embedding(feature.Hashed("words", 2000), 16),
	}
	some := make([]feature.Column, len(all))
	for i, c := range all {
		some[i] = c
	}
	f := must(feature.MakeParseSpec(some...)).Parse(serialized)
	h := layers.Dense(feature.InputLayer(f, all...), 64, layers.DenseOpts{Activation: ops.Relu})
	return layers.Dense(h, 1)
}
