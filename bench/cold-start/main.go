// Starts the given programs in turn, many times, with the same standard input, and prints for each run one line:
// number of the program, wall time in nanoseconds, processor time in nanoseconds, peak memory in bytes, exit status.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 50, "runs of each program")
	flag.Parse()
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	for range *rounds {
		for number, program := range flag.Args() {
			command := exec.Command(program)
			command.Stdin = bytes.NewReader(input)
			started := time.Now()
			_ = command.Run()
			wall := time.Since(started)
			state := command.ProcessState
			usage := state.SysUsage().(*syscall.Rusage)
			fmt.Println(number, wall.Nanoseconds(), (state.UserTime() + state.SystemTime()).Nanoseconds(), usage.Maxrss*1024, state.ExitCode())
		}
	}
}
