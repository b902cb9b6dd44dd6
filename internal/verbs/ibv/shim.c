//go:build rdma && cgo && linux

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "shim.h"

// Each call returns 0 or an errno, unless it says otherwise.

int gorge_query_port(struct ibv_context *c, int port, struct ibv_port_attr *a) {
	memset(a, 0, sizeof *a);
	return ibv_query_port(c, port, a);
}

int gorge_query_gid(struct ibv_context *c, int port, int index, uint8_t *gid, int *type) {
	struct ibv_gid_entry e;
	int rc = ibv_query_gid_ex(c, port, index, &e, 0);
	if (rc)
		return rc;
	memcpy(gid, e.gid.raw, 16);
	*type = e.gid_type;
	return 0;
}

struct ibv_mr *gorge_reg_mr(struct ibv_pd *pd, void *addr, size_t n, int access) {
	return ibv_reg_mr(pd, addr, n, access);
}

// A queue pair with as much room for inline data as the device gives, at most
// what is asked for.
struct ibv_qp *gorge_create_qp(struct ibv_pd *pd, struct ibv_cq *cq, int depth, int *max_inline) {
	struct ibv_qp_init_attr a;
	struct ibv_qp *qp;
	int want = *max_inline;
	for (;;) {
		memset(&a, 0, sizeof a);
		a.send_cq = a.recv_cq = cq;
		a.qp_type = IBV_QPT_RC;
		a.cap.max_send_wr = a.cap.max_recv_wr = depth;
		a.cap.max_send_sge = a.cap.max_recv_sge = 1;
		a.cap.max_inline_data = want;
		qp = ibv_create_qp(pd, &a);
		if (qp || want == 0)
			break;
		want = 0;
	}
	if (qp)
		*max_inline = (int)a.cap.max_inline_data < want ? (int)a.cap.max_inline_data : want;
	return qp;
}

int gorge_init_qp(struct ibv_qp *qp, int port, int pkey) {
	struct ibv_qp_attr a;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_INIT;
	a.pkey_index = pkey;
	a.port_num = port;
	a.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int gorge_connect_qp(struct ibv_qp *qp, const struct gorge_path *p) {
	struct ibv_qp_attr a;
	int rc;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = p->mtu;
	a.dest_qp_num = p->qpn;
	a.rq_psn = p->remote_psn;
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 12;
	a.ah_attr.is_global = 1;
	memcpy(a.ah_attr.grh.dgid.raw, p->gid, 16);
	a.ah_attr.grh.sgid_index = p->gid_index;
	a.ah_attr.grh.hop_limit = 255;
	a.ah_attr.grh.traffic_class = p->traffic_class;
	a.ah_attr.dlid = p->lid;
	a.ah_attr.sl = p->sl;
	a.ah_attr.port_num = p->port;
	rc = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (rc)
		return rc;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = p->psn;
	a.timeout = p->timeout;
	a.retry_cnt = p->retry_cnt;
	a.rnr_retry = 7; // without end
	a.max_rd_atomic = 1;
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC);
}

int gorge_fail_qp(struct ibv_qp *qp) {
	struct ibv_qp_attr a;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_ERR;
	return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

enum { CHUNK = 64 }; // requests that are linked at a time, on the stack

int gorge_post_send(struct ibv_qp *qp, const struct gorge_send *wrs, int n) {
	struct ibv_send_wr w[CHUNK], *bad;
	struct ibv_sge s[CHUNK];
	while (n > 0) {
		int i, k = n < CHUNK ? n : CHUNK, rc;
		memset(w, 0, k * sizeof w[0]);
		for (i = 0; i < k; i++) {
			s[i].addr = wrs[i].addr;
			s[i].length = wrs[i].length;
			s[i].lkey = wrs[i].lkey;
			w[i].wr_id = wrs[i].id;
			w[i].next = i + 1 < k ? &w[i + 1] : NULL;
			w[i].sg_list = &s[i];
			w[i].num_sge = wrs[i].length ? 1 : 0;
			w[i].opcode = wrs[i].op;
			w[i].send_flags = wrs[i].flags;
			// As TensorFlow has it, without a change of the byte order.
			w[i].imm_data = wrs[i].imm;
			w[i].wr.rdma.remote_addr = wrs[i].remote;
			w[i].wr.rdma.rkey = wrs[i].rkey;
		}
		rc = ibv_post_send(qp, w, &bad);
		if (rc)
			return rc;
		wrs += k;
		n -= k;
	}
	return 0;
}

int gorge_post_recv(struct ibv_qp *qp, const struct gorge_recv *wrs, int n) {
	struct ibv_recv_wr w[CHUNK], *bad;
	struct ibv_sge s[CHUNK];
	while (n > 0) {
		int i, k = n < CHUNK ? n : CHUNK, rc;
		memset(w, 0, k * sizeof w[0]);
		for (i = 0; i < k; i++) {
			s[i].addr = wrs[i].addr;
			s[i].length = wrs[i].length;
			s[i].lkey = wrs[i].lkey;
			w[i].wr_id = wrs[i].id;
			w[i].next = i + 1 < k ? &w[i + 1] : NULL;
			w[i].sg_list = &s[i];
			w[i].num_sge = wrs[i].length ? 1 : 0;
		}
		rc = ibv_post_recv(qp, w, &bad);
		if (rc)
			return rc;
		wrs += k;
		n -= k;
	}
	return 0;
}

// The number of completions, negative for an error.
int gorge_poll(struct ibv_cq *cq, int n, struct gorge_wc *out) {
	struct ibv_wc wc[CHUNK];
	int i, got;
	if (n > CHUNK)
		n = CHUNK;
	got = ibv_poll_cq(cq, n, wc);
	for (i = 0; i < got; i++) {
		out[i].id = wc[i].wr_id;
		out[i].status = wc[i].status;
		out[i].opcode = wc[i].opcode;
		out[i].length = wc[i].byte_len;
		out[i].imm = wc[i].imm_data;
		out[i].qpn = wc[i].qp_num;
	}
	return got;
}

int gorge_arm(struct ibv_cq *cq) { return ibv_req_notify_cq(cq, 0); }

int gorge_cq_event(struct ibv_comp_channel *ch) {
	struct ibv_cq *cq;
	void *context;
	if (ibv_get_cq_event(ch, &cq, &context))
		return errno ? errno : EIO;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

int gorge_async_event(struct ibv_context *c, struct gorge_event *e) {
	struct ibv_async_event a;
	if (ibv_get_async_event(c, &a))
		return errno ? errno : EIO;
	e->type = a.event_type;
	e->qpn = 0;
	switch (a.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		e->qpn = a.element.qp->qp_num;
		break;
	default:
		break;
	}
	// A queue pair can be destroyed only once its events are acknowledged.
	ibv_ack_async_event(&a);
	return 0;
}

int gorge_nonblock(int fd) {
	int flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? errno : 0;
}
