package verbs

import "fmt"

// A Status is how a work request ended. The numbers are libibverbs'.
type Status int

// The statuses that queue pairs of reliable connections give.
const (
	Success      Status = 0
	LocLenErr    Status = 1
	LocQPOpErr   Status = 2
	LocProtErr   Status = 4
	WRFlushErr   Status = 5
	BadRespErr   Status = 7
	LocAccessErr Status = 8
	RemInvReqErr Status = 9
	RemAccessErr Status = 10
	RemOpErr     Status = 11
	RetryExcErr  Status = 12
	RNRRetryErr  Status = 13
	FatalErr     Status = 19
	GeneralErr   Status = 21
)

var statusTexts = map[Status]string{
	Success: "success", LocLenErr: "local length error", LocQPOpErr: "local QP operation error",
	LocProtErr: "local protection error", WRFlushErr: "Work Request Flushed Error", BadRespErr: "bad response error",
	LocAccessErr: "local access error", RemInvReqErr: "remote invalid request error", RemAccessErr: "remote access error",
	RemOpErr: "remote operation error", RetryExcErr: "transport retry counter exceeded",
	RNRRetryErr: "RNR retry counter exceeded", FatalErr: "fatal error", GeneralErr: "general error",
}

// String returns libibverbs' text for s and its number.
func (s Status) String() string {
	if text, ok := statusTexts[s]; ok {
		return fmt.Sprintf("%s (%d)", text, int(s))
	}
	return fmt.Sprintf("status %d", int(s))
}
