package restjson_test

import (
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/serving/restjson"
)

// parse reads the body of a request to a model with one input, x.
func parse(body string) *restjson.PredictRequest {
	r, err := restjson.ParsePredict([]byte(body), func(string) (map[string]tf.DType, error) {
		return map[string]tf.DType{"x": tf.Float32}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// A body may name a signature; numbers become what its inputs are.
func ExamplePredictRequest() {
	r := parse(`{"signature_name": "two", "instances": [{"x": [1, 2]}, {"x": [3, 4]}]}`)
	fmt.Println(r.Signature, r.Inputs["x"], r.Format == restjson.Rows)
	// Output: two float32[2,2]{1, 2, 3, 4} true
}

// The answer has tensors in the form that the request has them in.
func ExampleFormat() {
	for _, body := range []string{`{"instances": [1, 2]}`, `{"inputs": [1, 2]}`} {
		r := parse(body)
		answer, err := restjson.AppendPrediction(nil, r.Inputs, r.Format)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s", answer)
	}
	// Output:
	// {
	//     "predictions": [1.0, 2.0]
	// }
	// {
	//     "outputs": [1.0, 2.0]
	// }
}
