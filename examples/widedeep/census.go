package main

import (
	"context"
	"math/rand/v2"
	"strconv"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/ops"
)

var (
	educations = []string{"school", "college", "bachelor", "master"}
	jobs       = []string{"clerk", "sales", "craft", "manager", "farming", "care", "transport", "science"}
)

// A person is an example; its JSON form is what the model server is asked with.
type person struct {
	Age       number `json:"age"`
	Hours     number `json:"hours"`
	Education string `json:"education"`
	Job       string `json:"job"`
	rich      bool
}

// A number has a decimal point in JSON: model servers take 40 for an integer, which
// is no value of a feature of floats.
type number float32

// MarshalJSON returns the number with one decimal.
func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(n), 'f', 1, 32), nil
}

// people makes n people. Wealth follows from all features, and from
// education and job together, with some luck.
func people(n int, seed uint64) []person {
	r := rand.New(rand.NewPCG(seed, 0))
	out := make([]person, n)
	for i := range out {
		e, j := r.IntN(len(educations)), r.IntN(len(jobs))
		p := person{Age: number(18 + r.IntN(50)), Hours: number(20 + r.IntN(40)), Education: educations[e], Job: jobs[j]}
		score := 0.8*float64(e) + 0.06*float64(p.Hours-40)
		if p.Age > 35 && p.Age < 55 {
			score++
		}
		if (e+j)%3 == 0 { // the right job for one's education
			score += 2.5
		}
		p.rich = score+0.4*r.NormFloat64() > 2.6
		out[i] = p
	}
	return out
}

// input returns batches of people, shuffled and without end for training.
func input(all []person, training bool) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		var age, hours []float32
		var education, job []string
		var rich []int64
		for _, p := range all {
			age, hours = append(age, float32(p.Age)), append(hours, float32(p.Hours))
			education, job = append(education, p.Education), append(job, p.Job)
			rich = append(rich, 0)
			if p.rich {
				rich[len(rich)-1] = 1
			}
		}
		var ts []*tf.Tensor
		for _, x := range []any{age, hours, education, job, rich} {
			t, err := tf.TensorOf(x)
			if err != nil {
				return nil, err
			}
			ts = append(ts, t)
		}
		d := data.FromTensorSlices(ts...)
		if training {
			d = d.Shuffle(int64(len(all)), 1, 2).Repeat(data.Infinite)
		}
		return &estimator.Input{
			Data: d.Batch(batch, false), Keys: []string{"age", "hours", "education", "job", "rich"}, Labels: []string{"rich"},
		}, nil
	}
}

// centered returns the function (x - mean) / scale.
func centered(mean, scale float32) func(x tf.Output) tf.Output {
	return func(x tf.Output) tf.Output {
		g := x.Graph()
		return x.Sub(ops.Scalar(g, mean)).Div(ops.Scalar(g, scale))
	}
}
