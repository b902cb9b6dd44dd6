package memory

import "golang.org/x/sys/unix"

func physical() int {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return unknownPhysical
	}
	return int(min(uint64(info.Totalram)*uint64(info.Unit), unknownPhysical))
}
