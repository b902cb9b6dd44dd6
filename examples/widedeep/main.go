// Command widedeep trains a wide and a deep model together (Cheng et al.,
// DLRS 2016) to tell who earns much, on census-like data that it makes itself. It
// exports the model and asks it over REST, from a model server in the same process.
//
//	go run ./examples/widedeep
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/serving"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	trained = 4000 // people to learn from
	unseen  = 1000 // people to judge
	asked   = 100  // of those, people asked about over REST
	batch   = 100
	steps   = 800
)

func main() {
	program.Main("widedeep", func(ctx context.Context, out io.Writer) error {
		dir, err := os.MkdirTemp("", "widedeep")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		_, err = run(ctx, dir, out)
		return err
	})
}

// results are what the model got right.
type results struct {
	accuracy, baseline float64 // of unseen people; of always giving the more frequent answer
	served             float64 // of those that were asked about over REST
}

// run trains, evaluates, exports and asks. All files are in dir.
func run(ctx context.Context, dir string, out io.Writer) (r results, err error) {
	wide, deep := columns()
	e, err := estimator.DNNLinearCombinedClassifier(estimator.Combined{
		Linear: estimator.Linear{Columns: wide, Optimizer: train.FTRL{LearningRate: 0.1}},
		DNN:    estimator.DNN{Columns: deep, Hidden: []int{32, 16}, Optimizer: train.Adagrad{LearningRate: 0.05}, Activation: layers.Relu},
	}, estimator.Task{Config: estimator.RunConfig{ModelDir: filepath.Join(dir, "model"), LogStepCountSteps: -1}})
	if err != nil {
		return r, err
	}
	if err := e.Train(ctx, input(people(trained, 1), true), estimator.TrainOptions{MaxSteps: steps}); err != nil {
		return r, err
	}
	test := people(unseen, 2)
	m, err := e.Evaluate(ctx, input(test, false), estimator.EvalOptions{})
	if err != nil {
		return r, err
	}
	r.accuracy, r.baseline = m["accuracy"], m["accuracy_baseline"]
	fmt.Fprintf(out, "after %.0f steps: accuracy %.1f%% (%.1f%% by the more frequent answer), AUC %.3f\n", m["global_step"], 100*r.accuracy, 100*r.baseline, m["auc"])
	spec, err := feature.MakeParseSpec(append(wide, asColumns(deep)...)...)
	if err != nil {
		return r, err
	}
	if _, err := e.ExportSavedModel(ctx, filepath.Join(dir, "export"), estimator.ParsingReceiver(spec), estimator.ExportOptions{}); err != nil {
		return r, err
	}
	r.served, err = serve(ctx, filepath.Join(dir, "export"), test[:asked], out)
	return r, err
}

// columns describes a person: the wide part learns what goes together by heart,
// the deep part what is alike.
func columns() (wide []feature.Column, deep []feature.Dense) {
	hours := feature.Numeric("hours")
	hours.Normalize = centered(40, 10)
	education := feature.Vocabulary("education", educations...)
	job := feature.Hashed("job", 20)
	ages := feature.Bucketized(feature.Numeric("age"), 25, 35, 45, 55)
	wide = []feature.Column{education, job, ages, feature.Crossed(100, "education", "job"), feature.Crossed(100, ages, "job")}
	return wide, []feature.Dense{hours, ages, feature.Indicator(education), feature.Embedding(job, 4)}
}

func asColumns(dense []feature.Dense) (out []feature.Column) {
	for _, c := range dense {
		out = append(out, c)
	}
	return out
}

// serve loads the exported model into a model server and asks it over REST. It
// returns the share of people for which the answer is right.
func serve(ctx context.Context, dir string, test []person, out io.Writer) (right float64, err error) {
	s, err := serving.New(serving.Config{Models: []serving.Model{{Name: "census", BasePath: dir}}, Poll: -1})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if err := s.Ready(ctx); err != nil {
		return 0, err
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(lis) }()
	defer func() {
		_ = h.Close()
		<-ended
	}()
	url := fmt.Sprintf("http://%s/v1/models/census:classify", lis.Addr())
	if right, err = ask(ctx, url, test); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "POST %s: %.0f%% of %d answers are right\n", url, 100*right, len(test))
	return right, nil
}

// ask classifies people with one request.
func ask(ctx context.Context, url string, test []person) (float64, error) {
	body, err := json.Marshal(map[string]any{"examples": test})
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Close = true // one request, so that no connection is left
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", response.Status, text)
	}
	var answer struct{ Results [][][2]any } // for each person: pairs of a class and its score
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, err
	}
	if len(answer.Results) != len(test) {
		return 0, fmt.Errorf("%d answers for %d people", len(answer.Results), len(test))
	}
	n := 0
	for i, pairs := range answer.Results {
		score, _ := pairs[1][1].(float64)
		if (score > 0.5) == test[i].rich {
			n++
		}
	}
	return float64(n) / float64(len(test)), nil
}
