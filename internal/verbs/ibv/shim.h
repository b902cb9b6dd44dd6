// The few calls of libibverbs that Go cannot make itself: macros, unions, lists.
#ifndef GORGE_IBV_SHIM_H
#define GORGE_IBV_SHIM_H

#include <stdint.h>
#include <stddef.h>
#include <infiniband/verbs.h>

// Requests and completions as Go lays them out: numbers only, so that the memory
// may be Go's. Memory of inline requests is named by number too; the caller keeps
// it in place during the call.
struct gorge_send {
	uint64_t id, addr, remote;
	uint32_t length, lkey, rkey, imm;
	int32_t op;
	uint32_t flags;
};
struct gorge_recv {
	uint64_t id, addr;
	uint32_t length, lkey;
};
struct gorge_wc {
	uint64_t id;
	int32_t status;
	uint32_t opcode, length, imm, qpn;
};
struct gorge_path {
	uint32_t qpn, psn, remote_psn;
	uint16_t lid;
	uint8_t gid[16];
	int port, gid_index, mtu, timeout, retry_cnt, sl, traffic_class;
};
struct gorge_event {
	int32_t type;
	uint32_t qpn;
};

int gorge_query_port(struct ibv_context *c, int port, struct ibv_port_attr *a);
int gorge_query_gid(struct ibv_context *c, int port, int index, uint8_t *gid, int *type);
struct ibv_mr *gorge_reg_mr(struct ibv_pd *pd, void *addr, size_t n, int access);
struct ibv_qp *gorge_create_qp(struct ibv_pd *pd, struct ibv_cq *cq, int depth, int *max_inline);
int gorge_init_qp(struct ibv_qp *qp, int port, int pkey);
int gorge_connect_qp(struct ibv_qp *qp, const struct gorge_path *p);
int gorge_fail_qp(struct ibv_qp *qp);
int gorge_post_send(struct ibv_qp *qp, const struct gorge_send *wrs, int n);
int gorge_post_recv(struct ibv_qp *qp, const struct gorge_recv *wrs, int n);
int gorge_poll(struct ibv_cq *cq, int n, struct gorge_wc *out);
int gorge_arm(struct ibv_cq *cq);
int gorge_cq_event(struct ibv_comp_channel *ch);
int gorge_async_event(struct ibv_context *c, struct gorge_event *e);
int gorge_nonblock(int fd);

#endif
