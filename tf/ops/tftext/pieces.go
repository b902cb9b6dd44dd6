package tftext

import "github.com/gorge-tf/gorge/internal/icu"

// pieces splits words into pieces of a vocabulary.
type pieces struct {
	suffix, unknown    string
	useUnknown, split  bool
	maxBytes, maxChars int
}

// tokenize adds the pieces of a word to t. An empty word has none.
func (p *pieces) tokenize(word string, has func(string) (bool, error), t *tokens) error {
	if len(word) > p.maxBytes {
		text := p.orUnknown(word)
		t.add(text, 0, len(text)) // the length of what is written, as in TensorFlow Text
		return nil
	}
	before := *t
	for start := 0; start < len(word); {
		end, known, err := p.longest(word, start, has)
		if err != nil {
			return err
		}
		if end == start {
			*t = before
			t.add(p.orUnknown(word), 0, len(word))
			return nil
		}
		text := word[start:end]
		if !known {
			text = p.orUnknown(text)
		}
		t.add(p.inner(text, start), start, end)
		start = end
	}
	return nil
}

// longest returns the end of the longest piece that begins at start and is in the
// vocabulary. If there is none, that is start, or the end of one character where
// these are split.
func (p *pieces) longest(word string, start int, has func(string) (bool, error)) (end int, known bool, err error) {
	ends := p.ends(word, start)
	for i := len(ends) - 1; i >= 0; i-- {
		if known, err = has(p.inner(word[start:ends[i]], start)); known || err != nil {
			return ends[i], known, err
		}
	}
	if p.split {
		return ends[0], false, nil
	}
	return start, false, nil
}

// ends returns the bytes behind the characters from start on, of which a piece has
// maxChars at most if that is positive.
func (p *pieces) ends(word string, start int) (ends []int) {
	for i := start; i < len(word) && (p.maxChars <= 0 || len(ends) < p.maxChars); {
		_, size, _ := icu.DecodeUTF8(word[i:])
		i += size
		ends = append(ends, i)
	}
	return ends
}

// inner marks the text of a piece that does not begin a word.
func (p *pieces) inner(text string, start int) string {
	if start > 0 {
		return p.suffix + text
	}
	return text
}

// orUnknown returns what is written for a text that is not in the vocabulary.
func (p *pieces) orUnknown(text string) string {
	if p.useUnknown {
		return p.unknown
	}
	return text
}
