package devnet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// stopPatience is how long a child may take to end after SIGTERM before it is killed.
const stopPatience = 15 * time.Second

// process is a running child.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the child has ended
	err  error         // how it ended; read after done
}

// spawner starts children from one OS thread that lives as long as it does (see childAttr).
type spawner struct {
	starts chan func()
}

func newSpawner() *spawner {
	s := &spawner{starts: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for f := range s.starts {
			f()
		}
	}()
	return s
}

func (s *spawner) close() { close(s.starts) }

// start runs exe; each line it writes to stderr or stdout goes to out.
func (s *spawner) start(out *lineWriter, exe string, args ...string) (*process, error) {
	cmd := exec.Command(exe, args...)
	cmd.SysProcAttr = childAttr()
	cmd.Stdout, cmd.Stderr = out, out // the same writer: exec copies both in one goroutine
	started := make(chan error)
	s.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", exe, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		out.flush()
		close(p.done)
	}()
	return p, nil
}

// stop asks the child to end and waits; a child that does not is killed, and that is an error.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if the child has ended, which is what done tells
	select {
	case <-p.done:
		return p.err
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("process %d did not stop within %s and was killed", p.cmd.Process.Pid, stopPatience), p.kill())
	}
}

// kill ends the child at once, as a crash would, and waits until it is gone.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}
