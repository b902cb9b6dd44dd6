package statuspage

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// queuePairs are the counters of each connection by RDMA. A connection that is
// made anew counts from 0, as Prometheus expects of what has been restarted.
var queuePairs = []struct {
	desc  *prometheus.Desc
	value func(*cluster.RDMAStats) int64
}{
	{perPair("sends", "Sends posted, which greet the peer."), func(s *cluster.RDMAStats) int64 { return s.Sends }},
	{perPair("messages", "Control messages posted."), func(s *cluster.RDMAStats) int64 { return s.Messages }},
	{perPair("acks", "Acknowledgements of control messages posted."), func(s *cluster.RDMAStats) int64 { return s.Acks }},
	{perPair("writes", "Writes of tensors posted; long tensors take several."), func(s *cluster.RDMAStats) int64 { return s.Writes }},
	{perPair("written_bytes", "Bytes of tensors written to a peer by RDMA."), func(s *cluster.RDMAStats) int64 { return s.Bytes }},
	{perPair("batches", "Calls of the driver that posted requests."), func(s *cluster.RDMAStats) int64 { return s.Batches }},
	{perPair("completions", "Completions handled, of what was posted and of what came."), func(s *cluster.RDMAStats) int64 { return s.Completed }},
	{perPair("credits", "Messages posted that return credits for receives."), func(s *cluster.RDMAStats) int64 { return s.Credits }},
	{perPair("unready", "Tensors that waited until the peer had a receive for them."), func(s *cluster.RDMAStats) int64 { return s.Unready }},
	{perPair("ring_full", "Tensors that waited for room to be copied to."), func(s *cluster.RDMAStats) int64 { return s.RingFull }},
	{perPair("waits", "Times that requests found the send queue full."), func(s *cluster.RDMAStats) int64 { return s.Waits }},
	{perPair("retries", "Requests by RDMA that were repeated."), func(s *cluster.RDMAStats) int64 { return s.Retries }},
	{perPair("staged", "Tensors that were copied on their way."), func(s *cluster.RDMAStats) int64 { return s.Staged }},
	{perPair("staged_bytes", "Bytes of tensors that were copied on their way."), func(s *cluster.RDMAStats) int64 { return s.StagedLen }},
	{perPair("received", "Tensors received by RDMA."), func(s *cluster.RDMAStats) int64 { return s.Received }},
}

func perPair(name, help string) *prometheus.Desc {
	return desc("gorge_rdma_"+name+"_total", help, "peer", "qpn")
}

// collectRDMA tells the counters of all queue pairs.
func collectRDMA(all []cluster.RDMAStats, count func(*prometheus.Desc, int64, ...string)) {
	for i := range all {
		qpn := strconv.FormatUint(uint64(all[i].QPN), 10)
		for _, c := range queuePairs {
			count(c.desc, c.value(&all[i]), all[i].Peer, qpn)
		}
	}
}
