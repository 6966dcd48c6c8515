package localpg

import "fmt"

// RunningError says that the data directory has an owner already: another process started
// a server on it and still runs.
type RunningError struct {
	DataDir string
	PID     int // the owner's process id, 0 when unknown
	Port    int // its Postgres' port on 127.0.0.1, 0 while it is starting
}

func (e *RunningError) Error() string {
	who := "another marquee"
	if e.PID != 0 {
		who = fmt.Sprintf("another marquee (process %d)", e.PID)
	}
	where := ""
	if e.Port != 0 {
		where = fmt.Sprintf(", its Postgres on port %d", e.Port)
	}
	return fmt.Sprintf("%s is already running on the data in %s%s: stop that one first, or choose another --data-dir",
		who, e.DataDir, where)
}
