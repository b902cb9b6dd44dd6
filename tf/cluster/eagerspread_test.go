package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// eagerCluster is a client of several servers.
type eagerCluster struct {
	t    *testing.T
	of   map[string]*eagerClient // by device
	next int64
}

const psCPU = "/job:ps/replica:0/task:0/device:CPU:0"

// connectEager opens a context on a worker and a parameter server.
func connectEager(t *testing.T) *eagerCluster {
	t.Helper()
	r := start(t, map[string]int{"worker": 1, "ps": 1})
	c := &eagerCluster{t: t, of: map[string]*eagerClient{}}
	def, devices := c.meet(r.servers["worker:0"].Target(), r.servers["ps:0"].Target())
	c.create("worker", def, devices)
	c.create("ps", def, devices)
	return c
}

// meet describes the cluster of a worker and a parameter server at two addresses.
func (c *eagerCluster) meet(worker, ps string) (def *pb.ClusterDef, devices []*pb.DeviceAttributes) {
	c.t.Helper()
	def = &pb.ClusterDef{}
	for job, target := range map[string]string{"worker": worker, "ps": ps} {
		def.Job = append(def.Job, &pb.JobDef{Name: job, Tasks: map[int32]string{0: target[len("grpc://"):]}})
		one := dialEager(c.t, target)
		resp := &pb.GetStatusResponse{}
		if err := one.cc.Invoke(c.t.Context(), "/tensorflow.WorkerService/GetStatus", &pb.GetStatusRequest{}, resp); err != nil {
			c.t.Fatal(err)
		}
		d := resp.GetDeviceAttributes()[0]
		d.Name = "/job:" + job + "/replica:0/task:0/device:CPU:0"
		devices = append(devices, d)
		c.of[d.GetName()] = one
	}
	return def, devices
}

func (c *eagerCluster) create(job string, def *pb.ClusterDef, devices []*pb.DeviceAttributes) {
	c.t.Helper()
	c.of["/job:"+job+"/replica:0/task:0/device:CPU:0"].call("CreateContext", &pb.CreateContextRequest{
		ContextId: 5, ServerDef: &pb.ServerDef{JobName: job, Cluster: def}, ClusterDeviceAttributes: devices,
	}, &pb.CreateContextResponse{})
}

// run runs an operation on its device and returns the number and the answer.
func (c *eagerCluster) run(op *pb.Operation) (int64, *pb.QueueResponse, error) {
	c.t.Helper()
	if op.Id == 0 {
		c.next++
		op.Id = c.next
	}
	resp := &pb.EnqueueResponse{}
	err := c.of[op.GetDevice()].cc.Invoke(c.t.Context(), eagerPath+"Enqueue", &pb.EnqueueRequest{ContextId: 5, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_Operation{Operation: op}}}}, resp)
	if err != nil {
		return op.Id, nil, err
	}
	return op.Id, resp.GetQueueResponse()[0], nil
}

func (c *eagerCluster) mustRun(op *pb.Operation) (int64, *pb.QueueResponse) {
	c.t.Helper()
	id, resp, err := c.run(op)
	if err != nil {
		c.t.Fatalf("%s: %v", op.GetName(), err)
	}
	return id, resp
}

// fetch returns an output of an operation from where it is.
func (c *eagerCluster) fetch(id int64, output int32, device string) []float32 {
	c.t.Helper()
	op := &pb.Operation{Id: -1, Name: "Identity", Device: device, Attrs: map[string]*pb.AttrValue{"T": ofType(tf.Float32)}, OpInputs: []*pb.Operation_Input{there(id, output, device, tf.Float32)}}
	_, resp := c.mustRun(op)
	t, err := core.TensorFromProto(resp.GetTensor()[0])
	if err != nil {
		c.t.Fatal(err)
	}
	return core.Data[float32](t)
}

func ofType(d tf.DType) *pb.AttrValue {
	return &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType(d)}}
}

func there(id int64, output int32, device string, d tf.DType) *pb.Operation_Input {
	return &pb.Operation_Input{Item: &pb.Operation_Input_RemoteHandle{RemoteHandle: &pb.RemoteTensorHandle{OpId: id, OutputNum: output, Device: device, OpDevice: device, Dtype: pb.DataType(d)}}}
}

func here(t *tf.Tensor) *pb.Operation_Input {
	return &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: core.TensorProto((*core.Tensor)(t))}}
}

// variable makes a variable on the parameter server.
func (c *eagerCluster) variable(v []float32) int64 {
	c.t.Helper()
	shape, err := core.AttrProto(tf.Shape{len(v)})
	if err != nil {
		c.t.Fatal(err)
	}
	value := (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{len(v)}))
	copy(tf.Data[float32](value), v)
	id, _ := c.mustRun(&pb.Operation{Name: "VarHandleOp", Device: psCPU, Attrs: map[string]*pb.AttrValue{"dtype": ofType(tf.Float32), "shape": shape, "shared_name": {Value: &pb.AttrValue_S{S: []byte("v")}}}})
	c.mustRun(&pb.Operation{Name: "AssignVariableOp", Device: psCPU, Attrs: map[string]*pb.AttrValue{"dtype": ofType(tf.Float32)}, OpInputs: []*pb.Operation_Input{there(id, 0, psCPU, tf.Resource), here(value)}})
	return id
}

// function registers a function of a vector and a variable with a server.
func (c *eagerCluster) function(device string, body func(x, v tf.Output) []tf.Output) (name string) {
	c.t.Helper()
	g := tf.NewGraph()
	f := tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Float32, Shape: tf.Shape{-1}}, {DType: tf.Resource, Shape: tf.Shape{}}}, func(in []tf.Output) []tf.Output { return body(in[0], in[1]) })
	f.Call([]tf.Output{ops.Const(g, []float32{1}, 1), ops.VarHandleOp(g, tf.Float32, nil)}) // which puts it into the library
	library, _ := g.Library()
	if f.Err() != nil {
		c.t.Fatal(f.Err())
	}
	c.of[device].call("Enqueue", &pb.EnqueueRequest{ContextId: 5, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{
		FunctionDef: library.Find(f.Name()), Library: library.Proto(),
	}}}}}, &pb.EnqueueResponse{})
	return f.Name()
}

// TestEagerFunctionOfTwoTasks calls a function on a worker whose variable is on a
// parameter server, where one of the results stays.
func TestEagerFunctionOfTwoTasks(t *testing.T) {
	c := connectEager(t)
	v := c.variable([]float32{1, 2})
	f := c.function(workerCPU, func(x, v tf.Output) []tf.Output {
		value := ops.ReadVariableOp(v, tf.Float32)
		return []tf.Output{x.Mul(value), value}
	})
	call := func(x ...float32) (int64, *pb.QueueResponse, error) {
		in := (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{len(x)}))
		copy(tf.Data[float32](in), x)
		return c.run(&pb.Operation{Name: f, Device: workerCPU, IsFunction: true, OpInputs: []*pb.Operation_Input{here(in), there(v, 0, psCPU, tf.Resource)}})
	}
	for _, x := range []float32{3, 5} {
		id, resp, err := call(x, x)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{workerCPU, psCPU}; !slices.Equal(resp.GetDevice(), want) || len(resp.GetShape()) != 2 {
			t.Fatalf("results are on %q, want %q", resp.GetDevice(), want)
		}
		if got := c.fetch(id, 0, workerCPU); !slices.Equal(got, []float32{x, 2 * x}) {
			t.Errorf("f(%v) = %v", x, got)
		}
		if got := c.fetch(id, 1, psCPU); !slices.Equal(got, []float32{1, 2}) {
			t.Errorf("the variable is %v", got)
		}
	}
	if _, _, err := call(1, 2, 3); !strings.Contains(status.Convert(err).Message(), "Incompatible shapes: [3] vs. [2]") {
		t.Errorf("operands of different lengths: %v", err)
	}
	if _, _, err := call(1, 1); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}

// TestEagerFailureElsewhere: what fails in another task ends the call, and says so.
func TestEagerFailureElsewhere(t *testing.T) {
	c := connectEager(t)
	f := c.function(workerCPU, func(x, v tf.Output) []tf.Output { return []tf.Output{x.Add(ops.ReadVariableOp(v, tf.Float32))} })
	id, _ := c.mustRun(&pb.Operation{Name: "VarHandleOp", Device: psCPU, Attrs: map[string]*pb.AttrValue{"dtype": ofType(tf.Float32), "shape": {Value: &pb.AttrValue_Shape{Shape: &pb.TensorShapeProto{}}}}})
	_, _, err := c.run(&pb.Operation{Name: f, Device: workerCPU, IsFunction: true, OpInputs: []*pb.Operation_Input{here((*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{1}))), there(id, 0, psCPU, tf.Resource)}})
	if msg := status.Convert(err).Message(); !strings.Contains(msg, "{{function_node "+f+"}} {{function_node "+f+"_partitioned_") || !strings.Contains(msg, "Could not find variable") {
		t.Errorf("a variable without value: %v", err)
	}
}

// TestEagerClusterChanges replaces the parameter server by another one: the worker
// that is told of it reaches that.
func TestEagerClusterChanges(t *testing.T) {
	r := start(t, map[string]int{"worker": 1, "ps": 1})
	other := start(t, map[string]int{"localhost": 1})
	c := &eagerCluster{t: t, of: map[string]*eagerClient{}}
	worker := r.servers["worker:0"].Target()
	def, devices := c.meet(worker, r.servers["ps:0"].Target())
	c.create("worker", def, devices)
	c.create("ps", def, devices)
	f := c.function(workerCPU, func(x, v tf.Output) []tf.Output { return []tf.Output{x.Add(ops.ReadVariableOp(v, tf.Float32))} })
	for i, value := range []float32{1, 7} {
		v := c.variable([]float32{value})
		id, _ := c.mustRun(&pb.Operation{Name: f, Device: workerCPU, IsFunction: true, OpInputs: []*pb.Operation_Input{here((*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{1}))), there(v, 0, psCPU, tf.Resource)}})
		if got := c.fetch(id, 0, workerCPU); !slices.Equal(got, []float32{value}) {
			t.Errorf("with parameter server %d: %v, want %v", i, got, value)
		}
		if i > 0 {
			break
		}
		def, devices = c.meet(worker, other.servers["localhost:0"].Target())
		c.create("ps", def, devices)
		resp := &pb.UpdateContextResponse{}
		c.of[workerCPU].call("UpdateContext", &pb.UpdateContextRequest{ContextId: 5, ContextViewId: 1, ServerDef: &pb.ServerDef{JobName: "worker", Cluster: def}, ClusterDeviceAttributes: devices}, resp)
		if d := resp.GetDeviceAttributes(); len(d) != 1 || d[0].GetName() != workerCPU {
			t.Errorf("devices after the change: %v", d)
		}
	}
}
