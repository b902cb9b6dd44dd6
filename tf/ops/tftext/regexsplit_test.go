package tftext_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
	"github.com/gorge-tf/gorge/tf/optest"
)

// bert is the pattern by which BERT's models split text, less some ranges.
const bert = `(\s+|[!-/]|[:-@]|[\[-` + "`" + `]|[{-~]|[\p{P}]|[\x{4E00}-\x{9FFF}]|[\x{3400}-\x{4DBF}]|[\x{20000}-\x{2A6DF}]|[\x{F900}-\x{FAFF}])`

func split(_ *tf.Graph, in []tf.Output) []tf.Output {
	return parts(tftext.RegexSplitWithOffsets(in[0], in[1], in[2]))
}

func init() {
	texts := optest.Vec("", " ", "one two  three", "don't stop, (now)!", " a\tb\n", "日本語 text，混ぜる", "a\x00b c", "a\xff b\xe2\x82 c", "¿qué? «sí»", "x")
	for name, p := range map[string][2]string{
		"spaces":                {`(\s)`, ``},
		"spaces, kept":          {`(\s)`, `\s`},
		"runs":                  {`(\s+)`, `(\s+)`},
		"as BERT":               {bert, bert[len(`(\s+|`) : len(bert)-1]},
		"without a group":       {`\s`, ``},
		"a group in the match":  {`o(n|p)(e|,)?`, `n`},
		"an empty group":        {`(t?)\s`, `t|`},
		"anchored":              {`^(.)`, ``},
		"the end":               {`(.)$`, `.`},
		"words":                 {`\b(\w)`, `[a-o]`},
		"any":                   {`(.)`, `.`},
		"kept as a whole":       {`(\s+)`, `\s`},
		"kept, an alternative":  {`(\w+)`, `do|n|stop|x`},
		"not greedy":            {`(\w+?)`, ``},
		"without case":          {`(?i:(T))`, `T`},
		"lines":                 {`(?s)(\t.)`, ``},
		"classes":               {`([[:punct:]]|\pP)`, `\pP`},
		"no characters":         {`([^a-z])`, `[^a-z]`},
		"kept though never met": {`(q)`, `.*`},
	} {
		optest.Add(sample("RegexSplitWithOffsets", name, split, texts, core.Scalar(p[0]), core.Scalar(p[1])))
	}
	one, ok := optest.Vec("ab"), core.Scalar("(b)")
	bad := func(name string, in ...*core.Tensor) {
		optest.Add(optest.Failing("RegexSplitWithOffsets", name, split, in...))
	}
	optest.Add(sample("RegexSplitWithOffsets", "no strings", split, optest.Vec[string](), ok, ok))
	bad("syntax", one, core.Scalar("(b"), ok)
	bad("syntax of what is kept", one, ok, core.Scalar("[b"))
	bad("a vector", one, optest.Vec("(b)"), ok)
	bad("a vector of what is kept", one, ok, optest.Vec("(b)"))
	refused := func(name, pattern, want string) {
		optest.Add(optest.Sample{Op: "RegexSplitWithOffsets", Name: name, In: []*core.Tensor{one, core.Scalar(pattern), ok}, F: split,
			Types: optest.OnlyOwn, Fails: true, Refused: want})
	}
	// TensorFlow Text does not end with these.
	refused("an empty match", `(x*)`, "the pattern of delimiters must not match an empty text, at byte 0 it does")
	refused("an empty match at the end", `($)`, "the pattern of delimiters must not match an empty text, at byte 2 it does")
	refused("a group without part", `a|(b)`, "the first group of the pattern of delimiters must be in each match, at byte 0 it is not")
}
