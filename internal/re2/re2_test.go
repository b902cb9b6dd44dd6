package re2

import "testing"

func TestBytesThatAreNotUTF8MatchNothing(t *testing.T) {
	for expr, texts := range map[string]map[string]bool{
		`^.$`:        {"a": true, "é": true, "\xff": false, "\xe2\x82": false},
		`[^a]`:       {"ab\xff": true, "a\xff": false, "a\ufffd": true},
		`\x{FFFD}`:   {"\ufffd": true, "\xff": false},
		`(?s)^a.*b$`: {"a\nb": true, "a\xffb": false},
	} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range texts {
			if got := p.For(text).MatchString(text); got != want {
				t.Errorf("%q matches %q: %t, want %t", expr, text, got, want)
			}
		}
	}
}

func TestWhole(t *testing.T) {
	p, err := CompileWhole(`(a)|b(?:c|d)`)
	if err != nil || p.Groups() != 1 {
		t.Fatalf("%d groups, %v", p.Groups(), err)
	}
	for text, want := range map[string]bool{"a": true, "bc": true, "ab": false, "xa": false, "bd\n": false} {
		if got := p.For(text).MatchString(text); got != want {
			t.Errorf("matches %q: %t, want %t", text, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for expr, want := range map[string]string{"(a": "missing ): (a", "a)|(b": "unexpected ): a)|(b", "[a": "missing ]: [a", "*": "no argument for repetition operator: *"} {
		_, err := CompileWhole(expr)
		if err == nil {
			t.Fatalf("%q compiles", expr)
		}
		if got := Describe(err); got != want {
			t.Errorf("error of %q is %q, want %q", expr, got, want)
		}
	}
}
