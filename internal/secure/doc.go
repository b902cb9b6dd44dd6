// Package secure decides who may connect to a process and what they may call.
//
// A [Keeper] reads certificates, revocations, roles and tokens from files and
// reads them again when they change. One Keeper serves all protocols of a
// process: gRPC and links by [NewCredentials], RDMA in software by
// [Keeper.Verbs], HTTP by [Keeper.HTTPServer], clients by [Keeper.Client].
//
// Each connection uses the files as they are when it begins. A call checks its
// peer again after each change, so a certificate that is revoked loses its open
// connections' calls, too.
package secure
