package main

import (
	"bytes"
	"regexp"
	"strings"
)

// Loops that are short enough to be served by the processor's cache of decoded instructions begin at a multiple of
// alignment bytes. Zen 5 fills that cache by lines of 64 bytes, and a short loop that begins in the middle of one
// can take 1.7 times as long: which of both came was left to the linker, as functions are aligned to 32 bytes.
const (
	alignment = "\tPCALIGN $64\n"
	// longestAligned bounds the instructions of a loop that is worth the padding.
	longestAligned = 80
)

var (
	labelLine = regexp.MustCompile(`^(\w+):$`)
	jumpLine  = regexp.MustCompile(`^\tJ[A-Z]+\s+(\w+)$`)
)

// aligned puts the alignment before the label of each innermost loop of assembly text.
func aligned(code []byte) []byte {
	lines := strings.SplitAfter(string(code), "\n")
	heads := loopHeads(lines)
	var out bytes.Buffer
	for i, line := range lines {
		if heads[i] {
			out.WriteString(alignment)
		}
		out.WriteString(line)
	}
	return out.Bytes()
}

// loopHeads finds the lines with labels to which a jump not far behind goes back, with no other such label between.
func loopHeads(lines []string) map[int]bool {
	heads, labels, last := map[int]bool{}, map[string]int{}, -1
	for i, line := range lines {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "TEXT ") {
			labels, last = map[string]int{}, i
		}
		if m := labelLine.FindStringSubmatch(line); m != nil {
			labels[m[1]] = i
		}
		m := jumpLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		head, behind := labels[m[1]]
		if behind && head > last && i-head <= longestAligned {
			heads[head], last = true, i
		}
	}
	return heads
}
