package main

import (
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/serving"
	"github.com/gorge-tf/gorge/tf/session"
)

// modelServerFlags are the flags of model-server. They have the names and defaults
// of tensorflow_model_server's; host and those behind it are Gorge's own.
type modelServerFlags struct {
	port, restPort, restTimeout       int
	socket                            string
	cors                              bool
	name, base, config                string
	configPoll, filePoll              int
	batching, modelBatching           bool
	batchingFile                      string
	loads, retries, rounds            int
	retryMicros                       int64
	tags                              string
	warmup                            bool
	monitoring, ssl                   string
	threads                           int
	health, anyLabel, content, method bool
	version                           bool
	host, level, canary               string
	restTLS, noPage                   bool
	maxRequests, maxMessage           int
	maxBody                           int64
	grace, headerTimeout, readTimeout time.Duration
	requestLog                        string
	requestShare                      float64
	maxConnections                    int
	maxStreams                        uint
	noFold, noFreeze, prepare         bool
	runs                              int
	tls                               tlsFlags
	observe                           observeFlags
	memory                            memoryFlags
	confine                           confineFlags
	ignored                           map[string]string // flags that have no effect here, by what they were given
}

// withoutEffect are flags of tensorflow_model_server that say how TensorFlow's own
// runtime uses threads, memory and accelerators; they are taken and logged.
var withoutEffect = []string{
	"rest_api_num_threads", "grpc_max_threads", "num_unload_threads", "tensorflow_intra_op_parallelism", "tensorflow_inter_op_parallelism",
	"tensorflow_session_config_file", "grpc_channel_arguments", "per_process_gpu_memory_fraction", "num_tflite_pools",
	"num_tflite_interpreters_per_pool", "thread_pool_factory_config_file", "mixed_precision",
}

// switchesWithoutEffect are those of them that need no value.
var switchesWithoutEffect = []string{
	"flush_filesystem_caches", "remove_unused_fields_from_bundle_metagraph", "xla_cpu_compilation_enabled", "xla_gpu_compilation_enabled",
	"enable_profiler", "skip_initialize_tpu", "prefer_tflite_model",
}

// ignoredFlag is a flag that has no effect.
type ignoredFlag struct {
	name     string
	into     map[string]string
	isSwitch bool
}

func (f ignoredFlag) String() string     { return "" }
func (f ignoredFlag) Set(v string) error { f.into[f.name] = v; return nil }
func (f ignoredFlag) IsBoolFlag() bool   { return f.isSwitch }

func parseModelServer(args []string, stdout io.Writer) (*modelServerFlags, error) {
	f := &modelServerFlags{ignored: map[string]string{}}
	s := flag.NewFlagSet("gorge model-server", flag.ContinueOnError)
	f.defineModels(s)
	f.defineListening(s)
	f.defineOwn(s)
	for _, name := range withoutEffect {
		s.Var(ignoredFlag{name: name, into: f.ignored}, name, "no effect: it is about TensorFlow's runtime")
	}
	for _, name := range switchesWithoutEffect {
		s.Var(ignoredFlag{name: name, into: f.ignored, isSwitch: true}, name, "no effect: it is about TensorFlow's runtime")
	}
	rest, err := arguments(s, args, stdout)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "model-server takes flags only, got %q", rest)
	}
	if err := checkBounds(s); err != nil {
		return nil, err
	}
	if err := checkNeeds(s, modelServerNeeds); err != nil {
		return nil, err
	}
	return f, f.fromEnvironment()
}

// modelServerNeeds are about Gorge's own flags: those of tensorflow_model_server have
// no effect where they have none there.
var modelServerNeeds = append(slices.Clone(observeNeeds), need{[]string{"request_log_share"}, []string{"request_log_prefix"}})

// notNegative are times and bounds that mean nothing below 0.
var notNegative = []string{"grace", "max_concurrent_requests", "max_connections", "max_message_bytes", "max_body_bytes"}

// checkBounds refuses them.
func checkBounds(s *flag.FlagSet) error {
	for _, name := range notNegative {
		if v := s.Lookup(name).Value.String(); strings.HasPrefix(v, "-") {
			return tf.Errorf(tf.InvalidArgument, "--%s must be 0 or more, got %s", name, v)
		}
	}
	return nil
}

func (f *modelServerFlags) defineModels(s *flag.FlagSet) {
	s.StringVar(&f.name, "model_name", "default", "`name` of the model, unless there is a model_config_file")
	s.StringVar(&f.base, "model_base_path", "", "`directory` of the model's versions, unless there is a model_config_file")
	s.StringVar(&f.config, "model_config_file", "", "text `file` of a ModelServerConfig: the models")
	s.IntVar(&f.configPoll, "model_config_file_poll_wait_seconds", 0, "read model_config_file again every so many `seconds`; 0: never")
	s.IntVar(&f.filePoll, "file_system_poll_wait_seconds", 1, "look for new versions every so many `seconds`; 0: once")
	s.BoolVar(&f.batching, "enable_batching", false, "join requests that come at the same time; without a file, only while threads are busy")
	s.StringVar(&f.batchingFile, "batching_parameters_file", "", "text `file` of BatchingParameters")
	s.BoolVar(&f.modelBatching, "enable_per_model_batching_parameters", false, "prefer batching_params.pbtxt in the directory of a version")
	s.IntVar(&f.loads, "num_load_threads", 0, "how many versions are loaded at once; 0: one")
	s.IntVar(&f.retries, "max_num_load_retries", 5, "how many times loading is tried again that has failed")
	s.Int64Var(&f.retryMicros, "load_retry_interval_micros", 60e6, "`time` between tries")
	s.StringVar(&f.tags, "saved_model_tags", savedmodel.Serve, "`tags` of the MetaGraph, separated by commas")
	s.BoolVar(&f.warmup, "enable_model_warmup", true, "let versions answer the requests in assets.extra/tf_serving_warmup_requests first")
	s.IntVar(&f.rounds, "num_request_iterations_for_warmup", 0, "how many times each of them is answered; 0: once")
	s.IntVar(&f.threads, "tensorflow_session_parallelism", 0, "`threads` that run models; 0: one for each CPU")
	s.BoolVar(&f.anyLabel, "allow_version_labels_for_unavailable_models", false, "let new labels be given to versions that are not available")
	s.BoolVar(&f.method, "enable_signature_method_name_check", false, "refuse signatures whose method is not that of the call")
}

func (f *modelServerFlags) defineListening(s *flag.FlagSet) {
	portFlag(s, &f.port, "port", 8500, "TCP `port` for gRPC; 0: any that is free, negative: none")
	s.StringVar(&f.socket, "grpc_socket_path", "", "`path` of a UNIX socket for gRPC, too")
	portFlag(s, &f.restPort, "rest_api_port", 0, "TCP `port` for REST; 0: none, negative: any that is free")
	s.IntVar(&f.restTimeout, "rest_api_timeout_in_ms", 30000, "`time` that a request by REST may take")
	s.BoolVar(&f.cors, "rest_api_enable_cors_support", false, "let pages of any origin call by REST")
	s.StringVar(&f.monitoring, "monitoring_config_file", "", "text `file` of a MonitoringConfig: Prometheus at the port for REST")
	s.StringVar(&f.ssl, "ssl_config_file", "", "text `file` of an SSLConfig: TLS for gRPC")
	s.BoolVar(&f.health, "enable_grpc_healthcheck_service", false, "answer grpc.health.v1.Health")
	s.BoolVar(&f.content, "enable_serialization_as_tensor_content", false, "answer with tensor_content, which is smaller and faster")
	s.BoolVar(&f.version, "version", false, "print the version")
}

func (f *modelServerFlags) defineOwn(s *flag.FlagSet) {
	s.StringVar(&f.host, "host", "", "`address` to listen at; empty: all of the machine's")
	s.StringVar(&f.level, "log", "info", "least `level` that is logged: debug, info, warn, error")
	s.StringVar(&f.canary, "canary", "", "`MODEL:LABEL:SHARE,…`: versions by label that get a share of the requests which name no version")
	s.BoolVar(&f.restTLS, "rest_api_enable_tls", false, "use ssl_config_file for REST, too")
	s.BoolVar(&f.noPage, "no_page", false, "show no page at /")
	s.IntVar(&f.maxRequests, "max_concurrent_requests", 0, "fail requests above so many at once; 0: no bound")
	s.IntVar(&f.maxMessage, "max_message_bytes", 0, "`bytes` that a request by gRPC may have; 0: 2 GiB")
	s.Int64Var(&f.maxBody, "max_body_bytes", 100<<20, "`bytes` that a request by REST may have")
	s.DurationVar(&f.grace, "grace", 30*time.Second, "how `long` requests under way may take after a signal to stop")
	s.DurationVar(&f.headerTimeout, "rest_api_header_timeout", 10*time.Second, "how `long` the header of a request may take to come")
	s.DurationVar(&f.readTimeout, "rest_api_read_timeout", 5*time.Minute, "how `long` a request may take to come")
	s.StringVar(&f.requestLog, "request_log_prefix", "", "`prefix` of the files that requests are logged to, of models without a logging_config")
	f.requestShare = 1
	s.Var((*share)(&f.requestShare), "request_log_share", "`share` of the requests that are logged, from 0 to 1")
	s.IntVar(&f.maxConnections, "max_connections", 10000, "connections that each port has open at once; others wait; 0: no bound")
	s.UintVar(&f.maxStreams, "max_streams", 0, "calls by gRPC that a connection has under way at once; 0: no bound")
	s.IntVar(&f.runs, "max_concurrent_runs", 0, "`runs` of a version that are under way at once, of signatures that change no state; 0: as many as processors, but at least two, negative: any number")
	s.BoolVar(&f.prepare, "prepare_signatures", true, "plan signatures before a version is available, and run those once that leave no trace")
	s.BoolVar(&f.noFold, "no_folding", false, noFoldUsage)
	s.BoolVar(&f.noFreeze, "no_freezing", false, noFreezeUsage)
	f.tls.serverOnly(s)
	f.observe.define(s)
	f.memory.define(s)
	f.confine.operations(s)
}

// The environment variables and defaults of TensorFlow Serving's container image.
const (
	modelNameVariable = "MODEL_NAME"
	basePathVariable  = "MODEL_BASE_PATH"
	imageBasePath     = "/models"
	imageModelName    = "model"
	imageRESTPort     = 8501
)

// fromEnvironment finds the model where the container image of TensorFlow Serving
// has it, if no flag says where it is.
func (f *modelServerFlags) fromEnvironment() error {
	if f.base != "" || f.config != "" || f.version {
		return nil
	}
	name, base := os.Getenv(modelNameVariable), os.Getenv(basePathVariable)
	if _, err := os.Stat(imageBasePath); err != nil && name == "" && base == "" {
		return tf.Errorf(tf.InvalidArgument, "model-server takes --model_base_path=DIR or --model_config_file=FILE")
	}
	if name == "" {
		name = imageModelName
	}
	if base == "" {
		base = imageBasePath
	}
	f.name, f.base = name, filepath.Join(base, name)
	if f.restPort == 0 {
		f.restPort = imageRESTPort
	}
	return nil
}

// serverConfig works out what the flags describe.
func (f *modelServerFlags) serverConfig() (serving.Config, error) {
	c := serving.Config{
		Poll: times(int64(f.filePoll), time.Second), Tags: tagSet(f.tags), Loads: f.loads, LoadRetries: f.retries,
		RetryInterval: times(f.retryMicros, time.Microsecond), NoWarmup: !f.warmup, WarmupRounds: f.rounds, AnyLabel: f.anyLabel,
		TensorContent: f.content, CheckMethods: f.method, ModelBatching: f.modelBatching, MaxRequests: f.maxRequests,
		RequestTimeout: times(int64(f.restTimeout), time.Millisecond), MaxBody: f.maxBody, MaxMessage: f.maxMessage, CORS: f.cors, NoPage: f.noPage,
		NoFold: f.noFold, NoFreeze: f.noFreeze, NoPrepare: !f.prepare, Runs: f.runs, MaxStreams: uint32(min(f.maxStreams, math.MaxUint32)),
	}
	if f.filePoll == 0 {
		c.Poll = -1
	}
	if f.threads > 0 {
		c.Session = append(c.Session, session.Threads(f.threads))
	}
	var err error
	if c.Batching, err = f.batchingParams(); err != nil {
		return c, err
	}
	c.Models, err = f.models()
	return c, err
}

// times is n units; more than a Duration holds is the longest one.
func times(n int64, unit time.Duration) time.Duration {
	most := math.MaxInt64 / int64(unit)
	return time.Duration(min(max(n, -most), most)) * unit
}

func (f *modelServerFlags) batchingParams() (*serving.Batching, error) {
	switch {
	case !f.batching && f.batchingFile != "":
		return nil, tf.Errorf(tf.InvalidArgument, "--batching_parameters_file needs --enable_batching")
	case !f.batching && f.modelBatching:
		return nil, tf.Errorf(tf.InvalidArgument, "--enable_per_model_batching_parameters needs --enable_batching")
	case !f.batching:
		return nil, nil
	case f.batchingFile == "":
		return &serving.Batching{}, nil
	}
	text, err := readConfig(f.batchingFile)
	if err != nil {
		return nil, err
	}
	b, err := serving.ParseBatching(text)
	return b, ofFile(f.batchingFile, err)
}

// ofFile is err, if there is one, with the file that has the mistake.
func ofFile(name string, err error) error {
	if err == nil {
		return nil
	}
	e := *tf.AsError(err)
	e.Msg = name + ": " + e.Message()
	return &e
}

// models reads the models from the configuration file, or makes the only one.
func (f *modelServerFlags) models() ([]serving.Model, error) {
	models := []serving.Model{{Name: f.name, BasePath: f.base}}
	if f.config != "" {
		text, err := readConfig(f.config)
		if err != nil {
			return nil, err
		}
		if models, err = serving.ParseModels(text); err != nil {
			return nil, ofFile(f.config, err)
		}
	} else if abs, err := filepath.Abs(f.base); err == nil && !strings.Contains(f.base, "://") {
		models[0].BasePath = abs
	}
	for i := range models {
		if models[i].Log.Prefix == "" && f.requestLog != "" {
			models[i].Log = serving.RequestLog{Prefix: f.requestLog, Share: f.requestShare}
		}
	}
	return models, f.setCanaries(models)
}

// setCanaries reads --canary.
func (f *modelServerFlags) setCanaries(models []serving.Model) error {
	if f.canary == "" {
		return nil
	}
	for one := range strings.SplitSeq(f.canary, ",") {
		parts := strings.Split(one, ":")
		bad := tf.Errorf(tf.InvalidArgument, "--canary must have the form MODEL:LABEL:SHARE,… of models that there are, got %q", one)
		if len(parts) != 3 {
			return bad
		}
		share, err := strconv.ParseFloat(parts[2], 64)
		if err != nil {
			return bad
		}
		found := false
		for i := range models {
			if models[i].Name == parts[0] {
				models[i].Canary, found = serving.Canary{Label: parts[1], Share: share}, true
			}
		}
		if !found {
			return bad
		}
	}
	return nil
}
