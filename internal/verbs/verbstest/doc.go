// Package verbstest checks providers of RDMA devices: one suite that all have
// to pass, and a device that misbehaves when it is told to.
package verbstest
