// Package chaos runs clusters of many tasks in one process, over a network that
// delays, reorders, drops and parts, while tasks die and come back, and checks what
// must hold in spite of that: no update is lost or made twice, every call ends,
// nothing is left behind.
//
// Masters and workers are the real ones; what lies between them is [Network]. Time is
// that of a testing/synctest bubble, so that an hour passes in moments. All that goes
// wrong follows from a seed: equal seeds give equal plans. Which of two calls comes
// first where both are ready is still the scheduler's choice.
package chaos
