package train

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A QueueRunner fills a queue: each of its enqueue operations is run over and
// over by a goroutine of its own, until the input ends or a coordinator stops.
type QueueRunner struct {
	Queue   string // name of the queue's node
	Enqueue []*tf.Operation
	Close   *tf.Operation // run when the last goroutine ends: no more input comes
	Cancel  *tf.Operation // run when the coordinator stops: ends operations that wait

	// Closed are the codes that say that the queue was closed; OutOfRange if
	// there are none.
	Closed []tf.Code

	mu      sync.Mutex
	running map[tf.StepRunner]*filling
	failed  []error
}

// filling is what a runner has at work in one session.
type filling struct {
	left   int           // goroutines
	over   chan struct{} // closed by the last one
	failed bool          // one of them has, so that readers wait for what does not come
}

// isClosed reports whether err says that the queue was closed.
func (r *QueueRunner) isClosed(err error) bool {
	code := tf.CodeOf(err)
	if len(r.Closed) == 0 {
		return code == tf.OutOfRange
	}
	for _, c := range r.Closed {
		if c == code {
			return true
		}
	}
	return false
}

// Start runs the enqueue operations in s, one goroutine each, under a
// coordinator. A runner that is at work in s already does nothing. Without a
// coordinator, nil, each goroutine goes on until the input ends or it fails, which
// Errors tells then; so does the end of s. A session that is nil is a mistake, which
// the coordinator and Errors report.
func (r *QueueRunner) Start(c *Coordinator, s tf.StepRunner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == nil {
		r.refuse(c)
		return
	}
	if r.running[s] != nil || len(r.Enqueue) == 0 {
		return
	}
	if r.running == nil {
		r.running = map[tf.StepRunner]*filling{}
	}
	f := &filling{left: len(r.Enqueue), over: make(chan struct{})}
	r.running[s], r.failed = f, nil
	for _, op := range r.Enqueue {
		c := c.orAlone()
		c.Go(func(ctx context.Context) error { return r.run(ctx, c, s, op) })
	}
	if r.Cancel != nil {
		c := c.orAlone()
		c.Go(func(ctx context.Context) error { return r.cancelOnStop(ctx, c, s, f) })
	}
}

// refuse reports that there is no session to run in.
func (r *QueueRunner) refuse(c *Coordinator) {
	err := tf.Errorf(tf.InvalidArgument, "Cannot start queue runners: a session is needed, got nil")
	r.failed = []error{err}
	if c != nil {
		c.RequestStop(err)
	}
}

// orAlone returns c, or one for a single goroutine if there is none.
func (c *Coordinator) orAlone() *Coordinator {
	if c == nil {
		return NewCoordinator(context.Background())
	}
	return c
}

// run runs op until the input ends.
func (r *QueueRunner) run(ctx context.Context, c *Coordinator, s tf.StepRunner, op *tf.Operation) error {
	var err error
	for err == nil && ctx.Err() == nil {
		_, err = s.RunStep(ctx, nil, op)
	}
	switch {
	case err == nil || !r.isClosed(err) && endOf(ctx, err):
		r.leave(c, s, nil)
		return nil // stopped: the queue's end is the cancel operation's part
	case r.isClosed(err):
		if r.leave(c, s, nil) {
			r.close(s)
		}
		return nil
	}
	c.RequestStop(err) // before readers of the queue see its end
	r.leave(c, s, err)
	return err
}

// leave notes that a goroutine ends, by an error if it has failed, and reports whether it
// is the last.
func (r *QueueRunner) leave(c *Coordinator, s tf.StepRunner, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.running[s]
	if err != nil {
		r.failed = append(r.failed, err)
		f.failed = f.failed || !c.keeps(err)
	}
	if f.left--; f.left > 0 {
		return false
	}
	delete(r.running, s)
	close(f.over)
	return true
}

// close tells readers of the queue that no more comes. That the queue is
// closed already is no mistake.
func (r *QueueRunner) close(s tf.StepRunner) {
	if r.Close != nil {
		_, _ = s.RunStep(context.Background(), nil, r.Close)
	}
}

// cancelOnStop closes the queue at once when the coordinator stops, or is about to since
// the last producer has failed, unless all have ended well before, or another session is to
// go on with it.
func (r *QueueRunner) cancelOnStop(ctx context.Context, c *Coordinator, s tf.StepRunner, f *filling) error {
	select {
	case <-f.over:
		if !f.failed {
			return nil
		}
	case <-ctx.Done():
	}
	if !c.keeps(context.Cause(ctx)) {
		_, _ = s.RunStep(context.WithoutCancel(ctx), nil, r.Cancel)
	}
	return nil
}

// QueueRunners is the collection of a graph's queue runners.
const QueueRunners = "queue_runners"

func init() {
	author.RegisterCollection(author.CollectionCodec{
		Names: []string{QueueRunners},
		Encode: func(v any, scope string) proto.Message {
			if r, ok := v.(*QueueRunner); ok && scope == "" {
				return r.Proto()
			}
			return nil
		},
		Decode: func(g *tf.Graph, data []byte, scope string) (any, error) {
			p := &pb.QueueRunnerDef{}
			if err := proto.Unmarshal(data, p); err != nil {
				return nil, tf.Errorf(tf.InvalidArgument, "a collection of queue runners must hold QueueRunnerDefs: %v", err)
			}
			return QueueRunnerFrom(g, below(p, scope))
		},
	})
}

// below puts a scope before the names of p.
func below(p *pb.QueueRunnerDef, scope string) *pb.QueueRunnerDef {
	if scope == "" {
		return p
	}
	put := func(name *string) {
		if *name != "" {
			*name = scope + "/" + *name
		}
	}
	put(&p.QueueName)
	put(&p.CloseOpName)
	put(&p.CancelOpName)
	for i := range p.EnqueueOpName {
		put(&p.EnqueueOpName[i])
	}
	return p
}

// AddQueueRunner puts r into a collection of g, QueueRunners if none is given. A nil graph
// keeps nothing; a nil runner is a mistake, which g keeps.
func AddQueueRunner(g *tf.Graph, r *QueueRunner, collection ...string) {
	if r == nil {
		tf.Failed(g, "queue_runner", tf.Errorf(tf.InvalidArgument, "a queue runner must not be nil"))
		return
	}
	g.AddToCollection(append(collection, QueueRunners)[0], r)
}

// StartQueueRunners starts the queue runners of a collection of g, QueueRunners
// if none is given, in s under c, which may be nil; see [QueueRunner.Start].
func StartQueueRunners(g *tf.Graph, c *Coordinator, s tf.StepRunner, collection ...string) {
	for _, v := range g.Collection(append(collection, QueueRunners)[0]) {
		if r, ok := v.(*QueueRunner); ok && r != nil {
			r.Start(c, s)
		}
	}
}

// Errors returns what ended goroutines since Start, other than closed queues.
func (r *QueueRunner) Errors() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.failed...)
}

// Proto returns the runner in the form in which graphs are stored.
func (r *QueueRunner) Proto() *pb.QueueRunnerDef {
	p := &pb.QueueRunnerDef{QueueName: r.Queue, CloseOpName: nameOf(r.Close), CancelOpName: nameOf(r.Cancel)}
	for _, op := range r.Enqueue {
		p.EnqueueOpName = append(p.EnqueueOpName, nameOf(op))
	}
	for _, c := range r.Closed {
		p.QueueClosedExceptionTypes = append(p.QueueClosedExceptionTypes, pb.Code(c))
	}
	return p
}

func nameOf(op *tf.Operation) string {
	if op == nil {
		return ""
	}
	return op.Name
}

// QueueRunnerFrom returns the runner that p describes, whose operations are in
// g.
func QueueRunnerFrom(g *tf.Graph, p *pb.QueueRunnerDef) (*QueueRunner, error) {
	if g == nil {
		return nil, noGraph("a queue runner")
	}
	r := &QueueRunner{Queue: p.GetQueueName()}
	find := func(name string) (*tf.Operation, error) {
		if op := g.Operation(name); op != nil {
			return op, nil
		}
		return nil, tf.Errorf(tf.InvalidArgument, "the operations of a queue runner must be in the graph: runner of %q, operation %q", r.Queue, name)
	}
	for _, name := range p.GetEnqueueOpName() {
		op, err := find(name)
		if err != nil {
			return nil, err
		}
		r.Enqueue = append(r.Enqueue, op)
	}
	var err error
	if name := p.GetCloseOpName(); name != "" {
		if r.Close, err = find(name); err != nil {
			return nil, err
		}
	}
	if name := p.GetCancelOpName(); name != "" {
		if r.Cancel, err = find(name); err != nil {
			return nil, err
		}
	}
	for _, c := range p.GetQueueClosedExceptionTypes() {
		r.Closed = append(r.Closed, tf.Code(c))
	}
	return r, nil
}
