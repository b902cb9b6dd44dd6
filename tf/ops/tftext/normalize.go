package tftext

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "NormalizeUTF8", In: "input: string", Out: "output: string", Attrs: "normalization_form: string",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(normalizeUTF8),
	})
	core.Register(core.OpDef{
		Name: "CaseFoldUTF8", In: "input: string", Out: "output: string",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(caseFoldUTF8),
	})
}

// NormalizeUTF8 returns the strings of x in a normalization form of Unicode:
// "NFC", "NFD", "NFKC" or "NFKD", in letters of either case. Bytes that are not
// UTF-8 stay as they are. The result has the shape of x. Another form is refused
// with INVALID_ARGUMENT in the step. The version of Unicode is that of
// golang.org/x/text: characters that came later are not changed.
func NormalizeUTF8(x tf.Output, form string, opts ...tf.Option) tf.Output {
	return apply("NormalizeUTF8", tf.Join(opts, tf.Attr("normalization_form", form)), x)
}

// CaseFoldUTF8 returns the strings of x in a form for comparisons without case:
// Unicode's NFKC_Casefold, which has small letters, NFKC, and no characters that
// can be ignored, such as soft hyphens and joiners. Bytes that are not UTF-8 stay
// as they are. The result has the shape of x. An x that holds no strings is
// refused with INVALID_ARGUMENT when the graph is built.
func CaseFoldUTF8(x tf.Output, opts ...tf.Option) tf.Output { return apply("CaseFoldUTF8", opts, x) }

// forms has the normalization forms by their names.
var forms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}

// upper returns s with the capital letters of ASCII.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}, s)
}

func normalizeUTF8(n *core.Node) (core.Kernel, error) {
	name := upper(n.Str("normalization_form"))
	form, ok := forms[name]
	return core.Compute(func(c *core.OpContext) error {
		if !ok {
			return invalid("Unknown normalization form requrested: %s", name)
		}
		return each(c, func(s string) string { return normalized(s, form) })
	}), nil
}

func caseFoldUTF8(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error { return each(c, folded) }), nil
}
