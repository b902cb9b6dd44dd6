package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	ages := feature.Bucketized(feature.Numeric("age"), 30, 50)
	job := feature.Vocabulary("job", "cook", "clerk", "smith")
	columns := []feature.Dense{ages, feature.Indicator(job), feature.Embedding(feature.Crossed(50, ages, "job"), 3)}

	spec, err := feature.MakeParseSpec(ages, job)
	if err != nil {
		log.Fatal(err)
	}
	var records []string
	for _, e := range []example.Example{
		{"age": example.Floats(24), "job": example.Strings("cook")},
		{"age": example.Floats(61), "job": example.Strings("smith", "clerk")},
		{"age": example.Floats(30), "job": example.Strings("poet")},
	} {
		records = append(records, string(e.Marshal()))
	}

	g := tf.NewGraph()
	x := feature.InputLayer(spec.Parse(ops.Const(g, records)), columns...)
	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	begin := []tf.Fetchable{tf.InitializeAll(g)}
	for _, fill := range g.Collection(train.TableInitializersCollection) {
		begin = append(begin, fill.(*tf.Operation))
	}
	if _, err := s.Run(ctx, nil, begin...); err != nil {
		log.Fatal(err)
	}
	out, err := s.Run(ctx, nil, x.At(":, :3"), x.At(":, -3:"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Shape(), "buckets", tf.Data[float32](out[0]))
	fmt.Println("jobs", tf.Data[float32](out[1]))
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		fmt.Println(v.Name(), v.Shape())
	}
}
