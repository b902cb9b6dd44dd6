package secure

// access is what a method asks of its callers.
type access struct {
	role    Role
	audited bool // also when it is allowed
}

// methods says for each method that Gorge's servers have who may call it. A method
// that is missing here needs Administer; a test walks the servers' registries and
// finds it.
var methods = map[string]access{
	"/grpc.health.v1.Health/Check": {role: Nothing},
	"/grpc.health.v1.Health/Watch": {role: Nothing},
	"/grpc.health.v1.Health/List":  {role: Observe},

	"/tensorflow.MasterService/CreateSession":   {Run, true},
	"/tensorflow.MasterService/ExtendSession":   {Run, true},
	"/tensorflow.MasterService/PartialRunSetup": {role: Run},
	"/tensorflow.MasterService/RunStep":         {role: Run},
	"/tensorflow.MasterService/CloseSession":    {Run, true},
	"/tensorflow.MasterService/ListDevices":     {role: Observe},
	"/tensorflow.MasterService/Reset":           {Administer, true},
	"/tensorflow.MasterService/MakeCallable":    {role: Run},
	"/tensorflow.MasterService/RunCallable":     {role: Run},
	"/tensorflow.MasterService/ReleaseCallable": {role: Run},

	"/tensorflow.WorkerService/GetStatus":           {role: Observe},
	"/tensorflow.WorkerService/CreateWorkerSession": {Run, true},
	"/tensorflow.WorkerService/DeleteWorkerSession": {Run, true},
	"/tensorflow.WorkerService/RegisterGraph":       {role: Run},
	"/tensorflow.WorkerService/DeregisterGraph":     {role: Run},
	"/tensorflow.WorkerService/RunGraph":            {role: Run},
	"/tensorflow.WorkerService/CleanupGraph":        {role: Run},
	"/tensorflow.WorkerService/CleanupAll":          {Administer, true},
	"/tensorflow.WorkerService/RecvTensor":          {role: Run},
	"/tensorflow.WorkerService/MarkRecvFinished":    {role: Run},
	"/tensorflow.WorkerService/Logging":             {Administer, true},
	"/tensorflow.WorkerService/Tracing":             {Administer, true},
	"/tensorflow.WorkerService/RecvBuf":             {role: Run},
	"/tensorflow.WorkerService/GetStepSequence":     {role: Run},
	"/tensorflow.WorkerService/CompleteGroup":       {role: Run},
	"/tensorflow.WorkerService/CompleteInstance":    {role: Run},

	"/tensorflow.eager.EagerService/CreateContext":        {Run, true},
	"/tensorflow.eager.EagerService/UpdateContext":        {Run, true},
	"/tensorflow.eager.EagerService/Enqueue":              {role: Run},
	"/tensorflow.eager.EagerService/StreamingEnqueue":     {role: Run},
	"/tensorflow.eager.EagerService/WaitQueueDone":        {role: Run},
	"/tensorflow.eager.EagerService/RunComponentFunction": {role: Run},
	"/tensorflow.eager.EagerService/KeepAlive":            {role: Run},
	"/tensorflow.eager.EagerService/CloseContext":         {Run, true},

	"/tensorflow.VerbsService/GetRemoteAddress": {Run, true},

	"/tensorflow.serving.PredictionService/Classify":         {role: Run},
	"/tensorflow.serving.PredictionService/Regress":          {role: Run},
	"/tensorflow.serving.PredictionService/Predict":          {role: Run},
	"/tensorflow.serving.PredictionService/MultiInference":   {role: Run},
	"/tensorflow.serving.PredictionService/GetModelMetadata": {role: Observe},
	"/tensorflow.serving.SessionService/SessionRun":          {role: Run},
	"/tensorflow.serving.ModelService/GetModelStatus":        {role: Observe},
	"/tensorflow.serving.ModelService/HandleReloadConfigRequest": {
		Administer, true},
}

// Needs returns the role that a method asks for, and whether the table has it.
func Needs(method string) (Role, bool) {
	a, ok := methods[method]
	if !ok {
		return Administer, false
	}
	return a.role, true
}
