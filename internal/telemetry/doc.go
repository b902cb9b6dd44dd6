// Package telemetry says how a process is, to monitors and people: metrics for
// Prometheus, traces for OpenTelemetry, health, and what calls are under way.
//
// A [Telemetry] is a [rpc.Observer]: it is told of the calls of gRPC and of links
// alike. Programs that do not import this package pay nothing for it.
package telemetry
