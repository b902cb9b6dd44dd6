package io

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf"
)

// Field numbers of TensorFlow's ReaderBaseState.
const (
	startedField  = 1
	finishedField = 2
	producedField = 3
	workField     = 4
)

// state returns how far the reader is, as a message that TensorFlow
// understands.
func (r *reader) state() string {
	var b []byte
	for i, v := range []int64{r.started, r.finished, r.produced} {
		if v != 0 {
			b = protowire.AppendTag(b, protowire.Number(startedField+i), protowire.VarintType)
			b = protowire.AppendVarint(b, uint64(v))
		}
	}
	if r.work != "" {
		b = protowire.AppendTag(b, workField, protowire.BytesType)
		b = protowire.AppendString(b, r.work)
	}
	return string(b)
}

// restore brings the reader to where it was when state was taken.
func (r *reader) restore(ctx context.Context, state string) error {
	counts, work, ok := parseState([]byte(state))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Could not parse state for %s: %s", r.name, escaped(state))
	}
	started, finished, produced := counts[startedField], counts[finishedField], counts[producedField]
	switch {
	case started < 0 || finished < 0 || produced < 0:
		return tf.Errorf(tf.InvalidArgument, "Unexpected negative value when restoring in %s: %s", r.name, escaped(state))
	case started != finished && started != finished+1, started < finished:
		return tf.Errorf(tf.InvalidArgument, "Inconsistent work started vs. finished when restoring in %s: %s", r.name, escaped(state))
	}
	r.format.close()
	r.started, r.finished, r.produced, r.work, r.again = started, finished, produced, work, false
	if started > finished {
		return r.format.open(ctx, work)
	}
	return nil
}

// parseState reads the fields of a state.
func parseState(b []byte) (counts map[protowire.Number]int64, work string, ok bool) {
	counts = map[protowire.Number]int64{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, "", false
		}
		b = b[n:]
		switch {
		case num <= producedField && typ == protowire.VarintType:
			v, m := protowire.ConsumeVarint(b)
			counts[num], n = int64(v), m
		case num == workField && typ == protowire.BytesType:
			v, m := protowire.ConsumeBytes(b)
			work, n = string(v), m
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return nil, "", false
		}
		b = b[n:]
	}
	return counts, work, true
}

// escaped shows bytes in the way of C.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '"' || c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < 32 || c > 126:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
