package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/internal/icu"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	change := func(name string, ascii func(byte) byte, full letter) {
		core.Register(core.OpDef{
			Name: name, In: "input: string", Out: "output: string", Attrs: "encoding: string = ''",
			Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(caseKernel(ascii, full.table())),
		})
	}
	change("StringLower", lowerByte, lowerLetter)
	change("StringUpper", upperByte, upperLetter)
}

// UTF8Letters lets StringLower and StringUpper change all letters of UTF-8, not
// only those of ASCII.
var UTF8Letters tf.Option = tf.Attr("encoding", "utf-8")

// StringLower returns the strings of x in small letters; with UTF8Letters,
// what is not UTF-8 is replaced by U+FFFD, and a string ends at its first byte
// 0. The result has the shape of x. Any other encoding is refused with
// INVALID_ARGUMENT in the step.
func StringLower(x tf.Output, opts ...tf.Option) tf.Output { return apply("StringLower", opts, x) }

// StringUpper returns the strings of x in capital letters; it treats strings
// like StringLower. With UTF8Letters a letter may become several, as ß becomes
// SS. Any other encoding is refused with INVALID_ARGUMENT in the step.
func StringUpper(x tf.Output, opts ...tf.Option) tf.Output { return apply("StringUpper", opts, x) }

func caseKernel(ascii func(byte) byte, full func() *caseTable) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		switch encoding := n.Str("encoding"); encoding {
		case "":
			return eachByte(ascii), nil
		case "utf-8":
			return eachText(full().text), nil
		default:
			return nil, invalid("only utf-8 or '' (no encoding) is supported, received %s", encoding)
		}
	}
}

// eachByte makes a kernel that changes every byte by itself.
func eachByte(f func(byte) byte) core.Kernel {
	var changed [256]byte
	for i := range changed {
		changed[i] = f(byte(i))
	}
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		in, y := core.Data[string](c.Input(0)), core.Data[string](out)
		c.ParallelFor(len(y), grain, func(lo, hi int) {
			var texts memory.Texts
			var b []byte
			for i := lo; i < hi; i++ {
				b = append(b[:0], in[i]...)
				for k, v := range b {
					b[k] = changed[v]
				}
				y[i] = texts.Of(b)
			}
		})
		return nil
	})
}

// countedTexts is how many bytes of short texts are counted together.
const countedTexts = 1 << 12

// eachText makes a kernel of what appends to b, which is empty, what a string becomes. Texts
// of countedTexts or more may have to be counted before.
func eachText(change func(b []byte, s string) []byte) core.Kernel {
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		in, y := core.Data[string](c.Input(0)), core.Data[string](out)
		c.ParallelFor(len(y), grain, func(lo, hi int) {
			var texts memory.Texts
			var b []byte
			made := 0
			for i := lo; i < hi; i++ {
				b = change(b[:0], in[i])
				if len(b) < countedTexts {
					made += len(b)
				}
				if made >= countedTexts {
					core.Room(made)
					made = 0
				}
				y[i] = texts.Of(b)
			}
		})
		return nil
	})
}

func lowerByte(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

func upperByte(b byte) byte {
	if 'a' <= b && b <= 'z' {
		b -= 'a' - 'A'
	}
	return b
}

// wellFormed replaces what is not UTF-8.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size, _ := icu.DecodeUTF8(s)
		b.WriteRune(r)
		s = s[size:]
	}
	return b.String()
}

// fullUpper lists the letters whose capitals are several, each followed by
// them: Unicode's SpecialCasing.txt, without what depends on language.
const fullUpper = `
ßSS ŉʼN ǰJ̌ ΐΪ́ ΰΫ́ ևԵՒ ẖH̱ ẗT̈ ẘW̊ ẙY̊ ẚAʾ ὐΥ̓ ὒΥ̓̀ ὔΥ̓́ ὖΥ̓͂ ᾀἈΙ ᾁἉΙ ᾂἊΙ ᾃἋΙ ᾄἌΙ ᾅἍΙ ᾆἎΙ ᾇἏΙ ᾈἈΙ ᾉἉΙ ᾊἊΙ
ᾋἋΙ ᾌἌΙ ᾍἍΙ ᾎἎΙ ᾏἏΙ ᾐἨΙ ᾑἩΙ ᾒἪΙ ᾓἫΙ ᾔἬΙ ᾕἭΙ ᾖἮΙ ᾗἯΙ ᾘἨΙ ᾙἩΙ ᾚἪΙ ᾛἫΙ ᾜἬΙ ᾝἭΙ ᾞἮΙ ᾟἯΙ ᾠὨΙ ᾡὩΙ ᾢὪΙ ᾣὫΙ ᾤὬΙ ᾥὭΙ
ᾦὮΙ ᾧὯΙ ᾨὨΙ ᾩὩΙ ᾪὪΙ ᾫὫΙ ᾬὬΙ ᾭὭΙ ᾮὮΙ ᾯὯΙ ᾲᾺΙ ᾳΑΙ ᾴΆΙ ᾶΑ͂ ᾷΑ͂Ι ᾼΑΙ ῂῊΙ ῃΗΙ ῄΉΙ ῆΗ͂ ῇΗ͂Ι ῌΗΙ ῒΪ̀ ΐΪ́ ῖΙ͂ ῗΪ͂
ῢΫ̀ ΰΫ́ ῤΡ̓ ῦΥ͂ ῧΫ͂ ῲῺΙ ῳΩΙ ῴΏΙ ῶΩ͂ ῷΩ͂Ι ῼΩΙ ﬀFF ﬁFI ﬂFL ﬃFFI ﬄFFL ﬅST ﬆST ﬓՄՆ ﬔՄԵ ﬕՄԻ ﬖՎՆ ﬗՄԽ
`

var capitals = func() map[rune]string {
	m := map[rune]string{}
	for _, f := range strings.Fields(fullUpper) {
		r, size := utf8.DecodeRuneInString(f)
		m[r] = f[size:]
	}
	return m
}()

// newLetters are letters of later versions of Unicode than the 13th, which TensorFlow knows:
// to it they are no letters and have no case, whatever package unicode of this Go says.
var newLetters = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1C89, Hi: 0x1C8A, Stride: 1}, {Lo: 0x2C2F, Hi: 0x2C5F, Stride: 0x30},
		{Lo: 0xA7C0, Hi: 0xA7C1, Stride: 1}, {Lo: 0xA7CB, Hi: 0xA7F4, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10570, Hi: 0x105BF, Stride: 1}, {Lo: 0x10D40, Hi: 0x10D8F, Stride: 1}, {Lo: 0x16EA0, Hi: 0x16EDF, Stride: 1},
	},
}

// simple is f, a change of case that makes one letter of another, for letters of Unicode 13.
func simple(r rune, f func(rune) rune) rune {
	if unicode.Is(newLetters, r) {
		return r
	}
	return f(r)
}

func upperLetter(b []byte, _ string, _ int, r rune) []byte {
	if c, ok := capitals[r]; ok && r > unicode.MaxASCII {
		return append(b, c...)
	}
	return utf8.AppendRune(b, simple(r, unicode.ToUpper))
}

// The letters whose small form is special.
const (
	capitalIWithDot = 'İ'
	capitalSigma    = 'Σ'
)

func lowerLetter(b []byte, s string, i int, r rune) []byte {
	switch {
	case r == capitalIWithDot:
		return append(b, "i\u0307"...)
	case r == capitalSigma && endsWord(s, i):
		return append(b, "ς"...)
	}
	return utf8.AppendRune(b, simple(r, unicode.ToLower))
}

// endsWord reports whether the sigma at s[i] is the last letter of a word that
// has others, as Unicode's condition Final_Sigma defines it.
func endsWord(s string, i int) bool {
	before := strings.TrimRightFunc(s[:i], caseIgnorable)
	after := strings.TrimLeftFunc(s[i+len(string(capitalSigma)):], caseIgnorable)
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return cased(last) && !cased(next)
}

// caseIgnorable reports whether r does not end a word, like an apostrophe.
func caseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:^`·‧’‘․﹒﹕＇．：", r)
}

func cased(r rune) bool {
	return !unicode.Is(newLetters, r) && unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}
