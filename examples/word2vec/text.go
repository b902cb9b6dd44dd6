package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // the text
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

//go:embed data/opticks.txt.gz
var opticks []byte

// load returns the words of the embedded text.
func load() ([]string, error) {
	r, err := gzip.NewReader(bytes.NewReader(opticks))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return split(string(text)), err
}

// split returns the words of a text in lower case.
func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
}

// A corpus is a text as numbers of words; frequent words have low numbers.
type corpus struct {
	words  []string // by number
	number map[string]int32
	text   []int32
}

// newCorpus leaves out what comes less than least times, which teaches nothing.
func newCorpus(words []string, least int) *corpus {
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n < least })
	c := &corpus{words: slices.Collect(maps.Keys(count)), number: map[string]int32{}}
	slices.SortFunc(c.words, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i, w := range c.words {
		c.number[w] = int32(i)
	}
	for _, w := range words {
		if i, known := c.number[w]; known {
			c.text = append(c.text, i)
		}
	}
	return c
}

// thinned returns the text with fewer of the most frequent words, which stand
// beside everything: of a word that makes up more than share of the text, only
// the root of the excess is kept.
func (c *corpus) thinned(share float64, seed uint64) []int32 {
	count := make([]float64, len(c.words))
	for _, w := range c.text {
		count[w]++
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var out []int32
	for _, w := range c.text {
		if r.Float64() < math.Sqrt(share*float64(len(c.text))/count[w]) {
			out = append(out, w)
		}
	}
	return out
}
