package re2

import (
	"errors"
	"regexp/syntax"
)

// words are RE2's words for errors in patterns.
var words = map[syntax.ErrorCode]string{
	syntax.ErrMissingParen: "missing )", syntax.ErrUnexpectedParen: "unexpected )", syntax.ErrMissingBracket: "missing ]",
	syntax.ErrMissingRepeatArgument: "no argument for repetition operator", syntax.ErrInvalidRepeatSize: "invalid repetition size",
	syntax.ErrInvalidRepeatOp: "bad repetition operator", syntax.ErrTrailingBackslash: "trailing \\",
	syntax.ErrInvalidNamedCapture: "invalid named capture group", syntax.ErrInvalidPerlOp: "invalid perl operator",
}

// Describe returns RE2's words for an error of Compile.
func Describe(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := words[e.Code]
	if text == "" {
		text = string(e.Code)
	}
	return text + ": " + e.Expr
}
