package remote

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/session"
)

// clients are the fields of a session's configuration that concern the client
// alone. Limits, LogFusion, FreezeVariables and FoldNorms are those of sessions in this process: servers
// have their own, which clients cannot change.
var clients = map[string]bool{"Target": true, "StartTimeout": true, "TLS": true, "Security": true, "Observer": true, "Log": true, "Limits": true, "KeepAlive": true, "KeepAliveTimeout": true, "LogFusion": true,
	"FreezeVariables": true, "FoldNorms": true}

// TestNoOptionIsLost: whatever else a program configures reaches the master.
func TestNoOptionIsLost(t *testing.T) {
	plain := configProto(&session.Config{})
	typ := reflect.TypeFor[session.Config]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		var c session.Config
		fill(t, name, reflect.ValueOf(&c).Elem().Field(i))
		if reaches := !proto.Equal(configProto(&c), plain); reaches == clients[name] {
			t.Errorf("field %s: reaches the master: %v, concerns the client alone: %v", name, reaches, clients[name])
		}
	}
}

// fill gives a field a value that is not zero.
func fill(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3_000_000)
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type().Elem().Kind() == reflect.String {
			v.Index(0).SetString("all")
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, name, value)
		v.SetMapIndex(reflect.ValueOf("CPU"), value)
	case reflect.Struct:
		fill(t, name, v.Field(0))
	case reflect.Pointer, reflect.Interface: // of the client's
	default:
		t.Fatalf("field %s is a %v: say here how to fill it", name, v.Kind())
	}
}
