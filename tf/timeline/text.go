package timeline

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf/pb"
)

// text writes a description as protocol buffers are written in text, one field a
// line and without quotes. (Go's own text form varies on purpose.)
func text(d *pb.TensorDescription) string {
	var b block
	if d.GetDtype() != 0 {
		b.field("dtype", d.GetDtype())
	}
	if s := d.GetShape(); s != nil {
		b.begin("shape")
		for _, dim := range s.GetDim() {
			b.begin("dim")
			if dim.GetSize() != 0 {
				b.field("size", dim.GetSize())
			}
			b.end()
		}
		if s.GetUnknownRank() {
			b.field("unknown_rank", true)
		}
		b.end()
	}
	if a := d.GetAllocationDescription(); a != nil {
		b.begin("allocation_description")
		b.allocation(a)
		b.end()
	}
	return b.String()
}

// block is text with blocks in braces.
type block struct {
	strings.Builder
	depth int
}

func (b *block) line(s string) { fmt.Fprintf(b, "%s%s\n", strings.Repeat("  ", b.depth), s) }

func (b *block) field(name string, v any) { b.line(fmt.Sprintf("%s: %v", name, v)) }

func (b *block) begin(name string) {
	b.line(name + " {")
	b.depth++
}

func (b *block) end() {
	b.depth--
	b.line("}")
}

func (b *block) allocation(a *pb.AllocationDescription) {
	for _, f := range []struct {
		name string
		v    int64
	}{{"requested_bytes", a.GetRequestedBytes()}, {"allocated_bytes", a.GetAllocatedBytes()}} {
		if f.v != 0 {
			b.field(f.name, f.v)
		}
	}
	if a.GetAllocatorName() != "" {
		b.field("allocator_name", a.GetAllocatorName())
	}
	if a.GetAllocationId() != 0 {
		b.field("allocation_id", a.GetAllocationId())
	}
	if a.GetHasSingleReference() {
		b.field("has_single_reference", true)
	}
	if a.GetPtr() != 0 {
		b.field("ptr", a.GetPtr())
	}
}
