package serving

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// schema is a JSON Schema, or another part of an OpenAPI description.
type schema = map[string]any

// openAPI describes the latest version of a model.
func (h *rest) openAPI(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutSuffix(r.PathValue("file"), ".json")
	var v *handle
	if ok { // otherwise nothing would release the handle
		v = h.s.m.Latest(name)
	}
	if v == nil {
		(&reply{err: tf.Errorf(tf.NotFound, "Servable not found for request: Latest(%s)", name)}).write(w)
		return
	}
	defer v.Release()
	body, err := indent(describe(v))
	(&reply{body: body, err: err}).write(w)
}

// describe returns the OpenAPI description of a version.
func describe(h *handle) schema {
	base := "/v1/models/" + url.PathEscape(h.ID.Name)
	bodies := map[string][]any{}
	answers := map[string][]any{}
	for _, name := range sorted(h.Model.signatures) {
		s := h.Model.signatures[name]
		method := methodOf(s.def.GetMethodName())
		bodies[method] = append(bodies[method], bodySchema(s, method))
		answers[method] = append(answers[method], answerSchema(s, method))
	}
	get := schema{"get": schema{"summary": "The states of the versions", "responses": responses(schema{"type": "object"})}}
	paths := schema{base: get, base + "/metadata": schema{"get": schema{"summary": "The signatures", "responses": responses(schema{"type": "object"})}}}
	for method, b := range bodies {
		paths[base+":"+method] = schema{"post": schema{
			"operationId": method,
			"requestBody": schema{"required": true, "content": content(schema{"anyOf": b})},
			"responses":   responses(schema{"anyOf": answers[method]}),
		}}
	}
	return schema{
		"openapi": "3.1.0", "paths": paths,
		"info": schema{"title": h.ID.Name, "version": strconv.FormatInt(h.ID.Version, 10)},
	}
}

func content(s schema) schema { return schema{"application/json": schema{"schema": s}} }

func responses(s schema) schema {
	failed := schema{"type": "object", "properties": schema{"error": schema{"type": "string"}}}
	return schema{"200": schema{"description": "the answer", "content": content(s)}, "default": schema{"description": "why there is none", "content": content(failed)}}
}

// bodySchema describes the body of a request to a signature.
func bodySchema(s *signature, method string) schema {
	properties := schema{"signature_name": schema{"const": s.name}}
	required := []string{}
	if s.name != savedmodel.DefaultSignature {
		required = append(required, "signature_name")
	}
	out := schema{"title": s.name, "type": "object", "properties": properties}
	if method != "predict" {
		example := schema{"type": "object"}
		properties["context"] = example
		properties["examples"] = schema{"type": "array", "items": example, "minItems": 1}
		out["required"] = append(required, "examples")
		return out
	}
	columns, rows := tensorsSchema(s.sig.Inputs(), 0), tensorsSchema(s.sig.Inputs(), 1)
	if len(s.keys) == 1 { // the only input may come without its name
		in := s.sig.Inputs()[0]
		columns, rows = schema{"anyOf": []any{tensorSchema(in, 0), columns}}, schema{"anyOf": []any{tensorSchema(in, 1), rows}}
	}
	properties["inputs"] = columns
	properties["instances"] = schema{"type": "array", "items": rows, "minItems": 1}
	out["oneOf"] = []any{schema{"required": []string{"inputs"}}, schema{"required": []string{"instances"}}}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// answerSchema describes the answer of a signature.
func answerSchema(s *signature, method string) schema {
	if method != "predict" {
		return schema{"title": s.name, "type": "object", "properties": schema{"results": schema{"type": "array"}}}
	}
	columns, rows := tensorsSchema(s.sig.Outputs(), 0), tensorsSchema(s.sig.Outputs(), 1)
	if len(s.outs) == 1 {
		out := s.sig.Outputs()[0]
		columns, rows = tensorSchema(out, 0), tensorSchema(out, 1)
	}
	return schema{"title": s.name, "type": "object", "properties": schema{"outputs": columns, "predictions": schema{"type": "array", "items": rows}}}
}

// tensorsSchema describes an object of tensors, without their first dimensions.
func tensorsSchema(specs []savedmodel.TensorSpec, skip int) schema {
	properties := schema{}
	required := []string{}
	for _, s := range specs {
		properties[s.Key] = tensorSchema(s, skip)
		required = append(required, s.Key)
	}
	return schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// tensorSchema describes a tensor, without its first dimensions. Of one whose rank
// is not known there is nothing to say.
func tensorSchema(s savedmodel.TensorSpec, skip int) schema {
	if s.Shape == nil {
		return schema{}
	}
	out := elementSchema(s.DType)
	for i := len(s.Shape) - 1; i >= skip; i-- {
		out = schema{"type": "array", "items": out}
		if n := s.Shape[i]; n >= 0 {
			out["minItems"], out["maxItems"] = n, n
		}
	}
	return out
}

func elementSchema(d tf.DType) schema {
	switch {
	case d == tf.String:
		binary := schema{"type": "object", "properties": schema{"b64": schema{"type": "string", "contentEncoding": "base64"}}, "required": []string{"b64"}}
		return schema{"anyOf": []any{schema{"type": "string"}, binary}}
	case d == tf.Bool:
		return schema{"type": "boolean"}
	case d.IsInteger():
		return schema{"type": "integer"}
	}
	return schema{"type": "number"}
}
