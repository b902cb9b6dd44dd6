package ops

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Print", In: "input: T; data: U", Out: "output: T",
		Attrs:    "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
		Stateful: true, Shape: core.UnchangedShape, Grad: tf.GradFunc(printGrad), Kernels: core.AnyType(printTensors),
	})
	core.Register(core.OpDef{
		Name: "PrintV2", In: "input: string", Attrs: `output_stream: string = 'stderr'; end: string = '` + "\n'",
		Stateful: true, Shape: scalarInput, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(printText),
	})
}

// A Printer gets what Print and PrintV2 write: the stream is "stdout",
// "stderr", "log(info)", "log(warning)" or "log(error)".
type Printer func(stream, text string)

var printTo atomic.Pointer[Printer]

// SetPrinter says where the text of Print and PrintV2 goes, in the whole
// process: nowhere until a program says so. It may be called at any time. A
// nil p sends the text nowhere again. It never fails.
func SetPrinter(p Printer) {
	if p == nil {
		printTo.Store(nil)
		return
	}
	printTo.Store(&p)
}

// PrintOpts are the optional attributes of Print: text before the tensors, for
// how many runs it prints (for all if 0), and how many elements of each tensor
// (3 if 0 and all if negative).
type PrintOpts struct {
	Message           string
	FirstN, Summarize int
}

// Apply sets the attributes.
func (o PrintOpts) Apply(s *tf.Spec) {
	s.Set("message", o.Message)
	if o.FirstN != 0 {
		s.Set("first_n", o.FirstN)
	}
	if o.Summarize != 0 {
		s.Set("summarize", o.Summarize)
	}
}

// Print returns x and prints the tensors in data when it runs. x and data have
// any types and shapes. The text is one line for the stream "stderr" of the
// Printer that SetPrinter has set: the message and then each tensor in
// brackets. No type and no number of tensors is refused.
// Its options are [PrintOpts].
func Print(x tf.Output, data []tf.Output, opts ...tf.Option) tf.Output {
	return apply("Print", opts, append([]tf.Output{x}, data...)...)
}

// PrintV2Opts are the optional attributes of PrintV2: the stream, standard
// error if empty, and what ends the text: a newline unless NoNewline is set or
// End says otherwise.
type PrintV2Opts struct {
	OutputStream, End string
	NoNewline         bool
}

// Apply sets the attributes.
func (o PrintV2Opts) Apply(s *tf.Spec) {
	if o.OutputStream != "" {
		s.Set("output_stream", o.OutputStream)
	}
	if o.End != "" || o.NoNewline {
		s.Set("end", o.End)
	}
}

// PrintV2 prints a scalar string when it runs. The stream "file://PATH"
// appends to a file; the other streams are those of Printer. A tensor that is
// no scalar is refused with INVALID_ARGUMENT, when the graph is built if its
// shape is known, else in the step. An unknown stream and a file that cannot
// be opened are refused in the step with INVALID_ARGUMENT; RESOURCE_EXHAUSTED
// says that the disk has no room. A named pipe is written when it has a reader;
// the step's end ends the wait. Its options are [PrintV2Opts].
func PrintV2(text tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "PrintV2", []tf.Output{text}, opts...)
}

// scalarInput is the shape function of an op without outputs whose one input
// is a scalar.
func scalarInput(c *core.Infer) error {
	_, err := c.Rank(0, 0)
	return err
}

func printGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return append(tf.Grads(dy...), make([]tf.Gradient, len(op.Inputs())-1)...)
}

func printTensors(n *core.Node) (core.Kernel, error) {
	message, first, most := n.Str("message"), int64(n.Int("first_n")), n.Int("summarize")
	var calls atomic.Int64
	return core.Compute(func(c *core.OpContext) error {
		c.Forward(0, 0)
		if first >= 0 && calls.Add(1) > first {
			return nil
		}
		if p := printTo.Load(); p != nil {
			(*p)("stderr", message+strings.Join(summaries(c, most), "")+"\n")
		}
		return nil
	}), nil
}

var printStreams = []string{"stdout", "stderr", "log(info)", "log(warning)", "log(error)"}

func printText(n *core.Node) (core.Kernel, error) {
	stream, end := n.Str("output_stream"), n.Str("end")
	path, isFile := strings.CutPrefix(stream, "file://")
	if !isFile && !slices.Contains(printStreams, stream) {
		return nil, tf.Errorf(tf.InvalidArgument, "Unknown output stream: %s, Valid streams are: %s", stream, strings.Join(printStreams, ", "))
	}
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Input is expected to be scalar, but got %s", x.Shape().String())
		}
		text := core.Data[string](x)[0] + end
		if isFile {
			return appendTo(c.StepContext(), core.LocalPath(path), text)
		}
		if p := printTo.Load(); p != nil {
			(*p)(stream, text)
		}
		return nil
	}), nil
}

// appendTo adds text to the end of a file.
func appendTo(ctx context.Context, path, text string) error {
	f, err := core.CreateFile(ctx, path, os.O_APPEND)
	if err != nil && ctx.Err() == nil {
		return tf.Errorf(tf.InvalidArgument, "Failed to open file for appending: %s", path)
	}
	if err != nil {
		return err
	}
	return core.WriteAndClose(ctx, f, text)
}
