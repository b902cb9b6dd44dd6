package parsing_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
)

// Columns use the memory of earlier ones: what they hand out must not be it. Each
// goroutine parses batches of its own words, of changing sizes, and writes over all
// that it was given.
func TestColumnsShareNothing(t *testing.T) {
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			g := eager.New()
			for round := range 30 {
				if err := parseOwn(g, worker, 1+(worker*7+round*13)%50); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func parseOwn(g *tf.Graph, worker, n int) error {
	records := make([]string, n)
	for i := range records {
		word := fmt.Sprintf("%d.%d", worker, i)
		records[i] = record(example.Example{"s": example.Strings(word, word), "i": example.Ints(int64(worker), int64(i))})
	}
	sparse := []parsing.Sparse{{Key: "s", Type: tf.String}, {Key: "i", Type: tf.Int64}}
	p := parsing.ParseExampleV2(ops.Const(g, records), ops.Const(g, []string{}), nil, sparse, nil)
	strs, err := p.Sparse[0].Values.Value()
	if err != nil {
		return err
	}
	ints, err := p.Sparse[1].Values.Value()
	if err != nil {
		return err
	}
	words, numbers := tf.Data[string](strs), tf.Data[int64](ints)
	for i := range n {
		word := fmt.Sprintf("%d.%d", worker, i)
		if words[2*i] != word || words[2*i+1] != word || numbers[2*i] != int64(worker) || numbers[2*i+1] != int64(i) {
			return fmt.Errorf("example %d of goroutine %d has %q and %v", i, worker, words[2*i:2*i+2], numbers[2*i:2*i+2])
		}
	}
	clear(words)
	clear(numbers)
	return nil
}
