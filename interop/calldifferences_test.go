package interop

// differences are by the names of sequences.
var differences = map[string]difference{
	"callable/connection": {why: "TensorFlow connects what would be there without the feed", gorge: []string{
		"CreateSession: OK version 0",
		"MakeCallable: OK handle 0",
		"RunCallable: OK float32[]{-3}",
	}},
	"callable/fetches twice": {why: "TensorFlow returns an empty tensor the second time", gorge: []string{
		"CreateSession: OK version 0",
		"MakeCallable: OK handle 0",
		"RunCallable: OK float32[]{6} float32[]{3} float32[]{6}",
	}},
	"callable/timeout": {why: "TensorFlow leaves limits to its clients, Gorge's masters keep to them too", alone: true, gorge: []string{
		"CreateSession: OK version 0",
		"MakeCallable: OK handle 0",
		"RunCallable: DEADLINE_EXCEEDED",
	}},
	"callable/too few feeds": {why: "TensorFlow takes what it finds for the missing value", gorge: []string{
		"CreateSession: OK version 0",
		"MakeCallable: OK handle 0",
		"RunCallable: INVALID_ARGUMENT: Expected 2 feed tensors, but got 1",
	}},
	"callable/too many feeds": {why: "TensorFlow forgets those that are too many", gorge: []string{
		"CreateSession: OK version 0",
		"MakeCallable: OK handle 0",
		"RunCallable: INVALID_ARGUMENT: Expected 2 feed tensors, but got 3",
	}},
	"graph/attribute missing": {why: "TensorFlow names the node twice", gorge: []string{
		"CreateSession: NOT_FOUND: No attr named 'dtype' in NodeDef:\n\t [[c]]",
	}},
	"graph/attribute of a type that is not allowed": {why: "attributes are checked where ops are, with their words", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"T\" must be one of [bfloat16 float16 float32 float64 int8 int16 int32 int64 complex64 complex128], got string\n\t [[n]]",
	}},
	"graph/attribute of another kind": {why: "attributes are checked when the graph comes, not at its first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"dtype\" must be type, got int64\n\t [[c]]",
	}},
	"graph/attribute of unknown type": {why: "attributes are checked when the graph comes, not at its first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"dtype\": 888 is no data type\n\t [[c]]",
	}},
	"graph/attribute without a value": {why: "attributes are checked when the graph comes, not at its first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"dtype\": an attribute value must be set\n\t [[c]]",
	}},
	"graph/device that is none": {why: "the rest of TensorFlow's text is the node in its own notation", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Malformed device specification 'nonsense' in node: c",
	}},
	"graph/device of strokes": {why: "the rest of TensorFlow's text is the node in its own notation", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Malformed device specification '///' in node: c",
	}},
	"graph/device with a stroke behind": {why: "the rest of TensorFlow's text is the node in its own notation", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Malformed device specification '/job:worker/' in node: c",
	}},
	"graph/device in capitals": {why: "the rest of TensorFlow's text is the node in its own notation", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Malformed device specification '/Cpu:0' in node: c",
	}},
	"graph/frames/two parents": {why: "TensorFlow asks for a bug report", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: INTERNAL: Invalid loop structure: Mismatched parent frames for \"f\": \"g\" vs \"\". The node giving this error: e2",
	}},
	"graph/functions/of unknown ops": {why: "the text says which function", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: NOT_FOUND: Instantiation of function F failed: node n: Op type not registered 'NoSuchOp' in binary running on\n\t [[f]]",
	}},
	"graph/functions/unknown by handle": {why: "functions are looked up when they are called", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: INTERNAL: No function library is provided.\n\t [[f]]",
	}},
	"graph/functions/with a wrong result": {why: "the text says which function", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: INVALID_ARGUMENT: Instantiation of function F failed: Return y -> q:y:0 is not found: there is no such node or argument\n\t [[f]]",
	}},
	"graph/functions/without a result": {why: "the text says which function", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: INVALID_ARGUMENT: Instantiation of function F failed: Return y missing.\n\t [[f]]",
	}},
	"graph/input of control where data should be": {why: "inputs are counted when the graph comes, not at its first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Node 'n': Neg takes 1 inputs, got 0",
	}},
	"graph/inputs too few": {why: "inputs are counted when the graph comes, not at its first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Node 'n': AddV2 takes 2 inputs, got 1",
	}},
	"graph/inputs too many": {why: "one text for too few inputs and for too many", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Node 'n': Neg takes 1 inputs, got 2",
	}},
	"graph/value of huge shape": {why: "constants are read when the graph comes, not at the first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"value\": Encountered overflow when multiplying the sizes of a tensor: Shape [NUMBER,NUMBER] would have more than 2**63 - 1 elements or bytes\n\t [[c]]",
	}},
	"graph/value of negative shape": {why: "constants are read when the graph comes, not at the first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"value\": Shape [size:-5] has negative dimensions\n\t [[c]]",
	}},
	"graph/value of short content": {why: "constants are read when the graph comes, not at the first step", gorge: []string{
		"CreateSession: INVALID_ARGUMENT: attr \"value\": tensor_content of a float32[4] must have 16 bytes, got 1\n\t [[c]]",
	}},
	"partial/with options": {why: "partitions are returned of partial runs too; their pieces cannot be traced", gorge: []string{
		"CreateSession: OK version 0",
		"PartialRunSetup: OK handle 0",
		"RunStep: OK r1:0=float32[]{3} 1 partitions",
	}},
	"session/filter that is none": {why: "TensorFlow ends its process", alone: true, gorge: []string{
		"CreateSession: INVALID_ARGUMENT: Skipping invalid filter: nonsense",
	}},
	"session/operation timeout": {why: "TensorFlow leaves limits to its clients, Gorge's masters keep to them too", alone: true, gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: OK c=float32[]{2}",
		"RunStep: DEADLINE_EXCEEDED",
		"RunStep: DEADLINE_EXCEEDED",
	}},
	"step/feed of control": {why: "the name is that of no tensor", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: NOT_FOUND: FeedInputs: unable to find feed output ^a:0",
	}},
	"step/feed twice by two names": {why: "one of two values would be lost, as it is in TensorFlow", gorge: []string{
		"CreateSession: OK version 0",
		`RunStep: INVALID_ARGUMENT: Endpoint "a:0" fed more than once.`,
	}},
	"step/fetch of control": {why: "the name is that of no tensor", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: NOT_FOUND: FetchOutputs node ^c:0: not found",
	}},
	"step/fetch of source and sink": {why: "graphs have no such nodes here", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: NOT_FOUND: FetchOutputs node _SINK:0: not found",
	}},
	"step/short names": {why: "a tensor that is fetched under two names comes under both; TensorFlow loses one", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: OK r2:0=float32[]{6} r2=float32[]{6}",
	}},
	"step/target with output": {why: "the name is that of no node", gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: OK",
		"RunStep: NOT_FOUND: PruneForTargets: Some target nodes not found: ^c",
		"RunStep: OK",
	}},
	"step/timeout": {why: "TensorFlow leaves limits to its clients, Gorge's masters keep to them too", alone: true, gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: DEADLINE_EXCEEDED",
	}},
	"step/timeout elsewhere": {why: "TensorFlow leaves limits to its clients, Gorge's masters keep to them too", alone: true, gorge: []string{
		"CreateSession: OK version 0",
		"RunStep: DEADLINE_EXCEEDED",
	}},
	"worker/empty graph": {why: "TensorFlow ends its process when the graph is run", alone: true, gorge: []string{
		"CreateWorkerSession: OK",
		"RegisterGraph: INVALID_ARGUMENT: a graph to register must have nodes, this one has none",
		"RunGraph: ABORTED: Graph handle is not found:",
		"RegisterGraph: INVALID_ARGUMENT: a graph to register must have nodes, this one has none",
		"DeleteWorkerSession: OK",
	}},
	"worker/fetch that nobody sends": {why: "TensorFlow's worker waits for ever", gorge: []string{
		"CreateWorkerSession: OK",
		"RegisterGraph: OK",
		"RunGraph: INTERNAL: Failed to fetch outputs for step 7. (Original error message: the graph must send what is fetched from it, it does not send /job:worker/replica:0/task:0/device:CPU:0;NUMBER;/job:worker/replica:0/task:0/device:CPU:0;q:0;0:0)",
		"CleanupGraph: OK",
		"DeleteWorkerSession: OK",
	}},
	"worker/groups of no size": {why: "TensorFlow takes them for full, or waits for ever", alone: true, gorge: []string{
		"CompleteGroup: INVALID_ARGUMENT: group_size must be positive integer but got 0",
		"CompleteGroup: INVALID_ARGUMENT: group_size must be positive integer but got -1",
	}},
	"worker/receive under a frame that is none": {why: "TensorFlow does not look at that part of a key", gorge: []string{
		"RecvTensor: INVALID_ARGUMENT: Invalid  rendezvous key: /job:worker/replica:0/task:0/device:CPU:0;NUMBER;/job:worker/replica:0/task:1/device:CPU:0;e;0",
		"RecvTensor: INVALID_ARGUMENT: Invalid  rendezvous key: /job:worker/replica:0/task:0/device:CPU:0;NUMBER;/job:worker/replica:0/task:1/device:CPU:0;e;x:y",
		"CleanupGraph: OK",
	}},
	"worker/step that is cleaned up while it is fetched": {why: "TensorFlow's worker lets a receiver wait for ever that asked before its step began", alone: true, gorge: []string{
		"CleanupGraph: OK",
		"RecvTensor: ABORTED: Cleanup 31",
	}},
}
