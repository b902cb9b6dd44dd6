package main

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

const (
	alphabet  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	lineWords = 10
	lineCount = 20000
)

func lower(s string) string { return strings.ToLower(s) }

// manyWords returns n words of 8 to 16 letters and digits.
func manyWords(seed uint32, n int) []string { return lettered(seed, n, 8, 9, len(alphabet)) }

// lettered returns n words of least to least+span-1 of the first letters of the alphabet.
func lettered(seed uint32, n, least, span, letters int) []string {
	lengths, choice := labels(seed, n, span), labels(seed+1, 16*n, letters)
	out := make([]string, n)
	for i := range out {
		word := make([]byte, least+int(lengths[i]))
		for j := range word {
			word[j] = alphabet[choice[16*i+j]]
		}
		out[i] = string(word)
	}
	return out
}

// chosen returns n of the words, some of them often.
func chosen(from []string, seed uint32, n int) []string {
	out := make([]string, n)
	for i, k := range labels(seed, n, len(from)) {
		out[i] = from[k]
	}
	return out
}

// lines returns lines of ten words each: the fourth ends in a comma, the fifth and sixth
// are an address, the eighth is a number, and the last begins with a capital.
func lines() *tf.Tensor {
	w, numbers := lettered(11, lineWords*lineCount, 2, 8, 26), labels(13, lineCount, 100000)
	out := make([]string, lineCount)
	for i := range out {
		l := w[lineWords*i : lineWords*(i+1)]
		out[i] = fmt.Sprintf("%s %s %s %s, %s@%s.com %s %d %s X%s", l[0], l[1], l[2], l[3], l[4], l[5], l[6], numbers[i], l[8], l[9])
	}
	return tensor(out, lineCount)
}

func stringKernels() []kernelCase {
	w := tensor(manyWords(1, hundred), hundred)
	numbers := make([]string, hundred)
	for i, v := range labels(5, hundred, 100000000) {
		numbers[i] = fmt.Sprintf("%d.%05d", v/100000, v%100000)
	}
	buckets := tf.Attr("num_buckets", 1000)
	return []kernelCase{
		opCase("hash_bucket_fast_100K", "StringToHashBucketFast", 0, hundred, []*tf.Tensor{w}, buckets),
		opCase("hash_bucket_strong_100K", "StringToHashBucketStrong", 0, hundred, []*tf.Tensor{w}, buckets, tf.Attr("key", []int64{12, 34})),
		opCase("as_string_f32_100K", "AsString", 0, hundred, []*tf.Tensor{u(1, hundred)}),
		opCase("as_string_i32_100K", "AsString", 0, hundred, []*tf.Tensor{ids(1, hundred, 1000000)}),
		opCase("string_to_number_f32_100K", "StringToNumber", 0, hundred, []*tf.Tensor{tensor(numbers, hundred)}),
		opCase("string_join_100K", "StringJoin", 0, hundred, []*tf.Tensor{w, tensor(manyWords(3, hundred), hundred)}, tf.Attr("separator", "-")),
		opCase("string_lower_100K", "StringLower", 0, hundred, []*tf.Tensor{w}),
		opCase("string_length_100K", "StringLength", 0, hundred, []*tf.Tensor{w}),
		opCase("substr_100K", "Substr", 0, hundred, []*tf.Tensor{w, tf.Scalar[int32](2), tf.Scalar[int32](5)}),
		opCase("string_equal_100K", "Equal", 0, hundred, []*tf.Tensor{w, tensor(manyWords(1, hundred), hundred)}),
		opCase("reduce_join_100Kx10", "ReduceJoin", 0, hundred, []*tf.Tensor{tensor(manyWords(1, hundred), hundred/10, 10), ints(1)}, tf.Attr("separator", " ")),
	}
}

func splits() []kernelCase {
	work := float64(lineWords * lineCount)
	return []kernelCase{
		opCase("string_split_20Kx10", "StringSplitV2", 1, work, []*tf.Tensor{lines(), tf.Scalar("")}),
		opCase("string_split_space_20Kx10", "StringSplitV2", 1, work, []*tf.Tensor{lines(), tf.Scalar(" ")}),
		opCase("string_strip_20K", "StringStrip", 0, lineCount, []*tf.Tensor{lines()}),
		opCase("unicode_decode_20K", "UnicodeDecode", 1, lineCount, []*tf.Tensor{lines()}, tf.Attr("input_encoding", "UTF-8")),
	}
}

func regexes() (out []kernelCase) {
	l := lines()
	replace := func(name, pattern, by string) {
		out = append(out, opCase("regex_replace_"+name+"_20K", "StaticRegexReplace", 0, lineCount, []*tf.Tensor{l}, tf.Attr("pattern", pattern), tf.Attr("rewrite", by)))
	}
	replace("letters", "[^a-z0-9 ]", "")
	replace("digits", `\d+`, "#")
	replace("address", `(\w+)@(\w+)\.com`, `\2 \1`)
	replace("anchored", `^\w+`, "X")
	replace("literal", "@", " at ")
	return append(out,
		opCase("regex_replace_fed_20K", "RegexReplace", 0, lineCount, []*tf.Tensor{l, tf.Scalar("[^a-z0-9 ]"), tf.Scalar("")}),
		opCase("regex_match_20K", "StaticRegexFullMatch", 0, lineCount, []*tf.Tensor{l}, tf.Attr("pattern", `.*\w+@\w+\.com.*`)),
		opCase("regex_match_words_20K", "RegexFullMatch", 0, lineCount, []*tf.Tensor{l, tf.Scalar(`[a-z, ]+@[a-z]+\.(com|org) .*\d+ .*`)}))
}

// crc maps a string to [0, 1).
func crc(s string) float64 { return float64(crc32.ChecksumIEEE([]byte(s))) / (1 << 32) }
