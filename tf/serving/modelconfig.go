package serving

import (
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// platform is the only platform that there is.
const platform = "tensorflow"

// ParseModels reads the text of a model config file. Errors are InvalidArgument.
func ParseModels(text []byte) ([]Model, error) {
	c := &servingpb.ModelServerConfig{}
	if err := ParseText(text, c); err != nil {
		return nil, err
	}
	return ModelsOf(c)
}

// ParseText reads a message in text form, as configuration files have it.
func ParseText(text []byte, m proto.Message) error {
	if m == nil || !m.ProtoReflect().IsValid() {
		return tf.Errorf(tf.InvalidArgument, "text must be read into a message, got nil")
	}
	if err := (prototext.UnmarshalOptions{Resolver: pb.Resolver}).Unmarshal(text, m); err != nil {
		return tf.Errorf(tf.InvalidArgument, "the text must be a %s: %v", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// ModelsOf returns the models of a configuration. Errors are InvalidArgument.
func ModelsOf(c *servingpb.ModelServerConfig) ([]Model, error) {
	if c.GetModelConfigList() == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently supported")
	}
	models := []Model{}
	for _, m := range c.GetModelConfigList().GetConfig() {
		if err := checkPlatform(m); err != nil {
			return nil, err
		}
		models = append(models, Model{
			Name: m.GetName(), BasePath: m.GetBasePath(), Versions: policyOf(m.GetModelVersionPolicy()), Labels: m.GetVersionLabels(),
			Log: RequestLog{Prefix: m.GetLoggingConfig().GetLogCollectorConfig().GetFilenamePrefix(), Share: m.GetLoggingConfig().GetSamplingConfig().GetSamplingRate()},
		})
	}
	return models, check(models)
}

// checkPlatform refuses all but TensorFlow's SavedModels.
func checkPlatform(m *servingpb.ModelConfig) error {
	//lint:ignore SA1019 configurations of old servers have the type
	old := m.GetModelType()
	switch {
	case old != servingpb.ModelType_MODEL_TYPE_UNSPECIFIED && m.GetModelPlatform() != "":
		return tf.Errorf(tf.InvalidArgument, "Illegal setting both ModelServerConfig::model_type (deprecated) and ModelServerConfig::model_platform, model name is %s", m.GetName())
	case old == servingpb.ModelType_TENSORFLOW:
		return nil
	case old != servingpb.ModelType_MODEL_TYPE_UNSPECIFIED:
		return tf.Errorf(tf.InvalidArgument, "ModelServerConfig::model_type choice %d not supported.", old)
	case m.GetModelPlatform() == "":
		return tf.Errorf(tf.InvalidArgument, "Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform, model name is %s", m.GetName())
	case m.GetModelPlatform() != platform:
		return tf.Errorf(tf.InvalidArgument, "Model %s requests unsupported platform %s", m.GetName(), m.GetModelPlatform())
	}
	return nil
}

func policyOf(p *servingpb.FileSystemStoragePathSourceConfig_ServableVersionPolicy) VersionPolicy {
	out := VersionPolicy{Latest: int(p.GetLatest().GetNumVersions()), All: p.GetAll() != nil}
	if p.GetSpecific() != nil { // a policy without versions serves none, as in TensorFlow Serving
		out.Specific = append([]int64{}, p.GetSpecific().GetVersions()...)
	}
	return out
}
