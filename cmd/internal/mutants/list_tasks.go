package main

// taskMutants is the list of the task runtime.
var taskMutants = []mutant{
	// Arithmetic and bounds.
	{"scheduler/tasks/instant.go", "uint64(d) > math.MaxUint64-uint64(t)", "uint64(d) > math.MaxUint64", "a deadline that wraps"},
	{"scheduler/tasks/schedule.go", "return max(s.at, now), nil", "return s.at, nil", "a deadline in the past stays there"},
	{"scheduler/tasks/register.go", "len(r.tasks) >= MaxRegistrations", "len(r.tasks) > MaxRegistrations", "a 65th registration"},
	{"scheduler/tasks/handle.go", "if r.handles >= MaxHandles {", "if r.handles > MaxHandles {", "a 129th handle"},
	{"scheduler/tasks/handle.go", "if t.generation == math.MaxUint64 {", "if t.generation == math.MaxUint64-1 {", "the last generation is not used"},
	{"scheduler/tasks/register.go", "	if err != nil {\n		r.letGo(t)\n	}\n", "", "a refused registration keeps its captures"},

	// Deliveries.
	{"scheduler/tasks/handle.go", "own.generation == h.generation && own.role == h.role", "own.role == h.role", "a replaced wake-up is not stale"},
	{"scheduler/tasks/handle.go", "	if t.gone {\n		r.stale.inc()", "	if false {\n		r.stale.inc()", "a delivery of an old registration is not told apart"},
	{"scheduler/tasks/handle.go", "	h.timer.Stop()\n", "", "a dropped timer is not stopped"},
	{"scheduler/tasks/handle.go", "		t.counters.Coalesced.inc()\n		return nil\n	}\n	return r.wakeAt(t, now, deadline)", "	}\n	return r.wakeAt(t, now, deadline)", "an equal deadline is armed again"},
	{"scheduler/tasks/work.go", "	if full || len(r.waiting) > 0 && r.waiting[0] != h {", "	if len(r.waiting) > 0 && r.waiting[0] != h {", "more callbacks than allowed run"},
	{"scheduler/tasks/work.go", "	if len(r.waiting) > 0 {\n		go r.work(nil)\n	}\n", "", "work that waits is forgotten"},
	{"scheduler/tasks/step.go", "		r.waiting = slices.Insert(r.waiting, place, queued)\n", "		r.waiting = append(r.waiting, queued)\n", "retired work loses its place"},

	// The watchdog.
	{"scheduler/tasks/step.go", "now.Add(t.cadence) // from", "h.deadline.Add(t.cadence) // from", "missed periods come again"},
	{"scheduler/tasks/step.go", "a != nil && a.started && !a.lost {", "a != nil && a.started && a.lost {", "two runs at a time"},
	{"scheduler/tasks/step.go", "	t.counters.Coalesced.inc()\n", "", "an overrun is not counted"},
	{"scheduler/tasks/step.go", "now.Since(a.startedAt) >= t.limit", "now.Since(a.startedAt) > t.limit", "work at its limit goes on"},
	{"scheduler/tasks/step.go", "			next.pending, next.kept = old.pending, old.kept\n", "", "a proposal to work that never started is lost"},
	{"scheduler/tasks/step.go", "		a.failed = controlReason(err)\n", "", "a watchdog without a successor looks alive"},
	{"scheduler/tasks/step.go", "			r.halt(t, controlReason(err), now)\n", "", "a failed step leaves the task looking scheduled"},

	// Arbitration and completion.
	{"scheduler/tasks/command.go", "return command{commandSchedule, next.deadline, true}, true", "return command{commandSchedule, next.deadline, next.exact}, true", "a schedule after a cancellation keeps the old successor"},
	{"scheduler/tasks/command.go", "case next.deadline >= c.deadline:", "case next.deadline <= c.deadline:", "ensures keep the latest deadline"},
	{"scheduler/tasks/command.go", "case next.exact:\n", "case next.exact && next.deadline < c.deadline:\n", "an exact schedule only moves earlier"},
	{"scheduler/tasks/command.go", "|| c.kind == commandCancel && life == LifetimeRemoveWhenStopped", "", "a cancelled transient task is revived"},
	{"scheduler/tasks/command.go", "	case c.kind == commandUnregister, c.terminal(life) && next.kind != commandUnregister:", "	case c.terminal(life) && c.kind != commandUnregister && next.kind != commandUnregister:", "unregistering is not final"},
	{"scheduler/tasks/complete.go", "	case res.completion.kind == 0:\n		reason = ReasonInvariantFailure\n	case r.stopping:", "	case r.stopping:", "an invariant failure is overruled by a command"},
	{"scheduler/tasks/complete.go", "	} else {\n		t.streak = 0\n	}", "	}", "success does not end the streak"},
	{"scheduler/tasks/control.go", "		cmd.deadline = max(cmd.deadline, now) // it", "		// it", "a command that waited has a deadline in the past"},
	{"scheduler/tasks/control.go", "t.attempt != c.attempt {", "t.attempt == nil {", "a leaked context controls the next run"},
	{"scheduler/tasks/control.go", "(t.attempt.started || kind == commandSchedule)", "true", "cancelling queued work waits for it"},
	{"scheduler/tasks/control.go", "			r.halt(t, controlReason(err), now)\n			return err\n", "			return err\n", "a failed arming leaves the old reason"},

	// Ends that are not normal.
	{"scheduler/tasks/work.go", "		stop = a.kept\n", "", "a cancellation survives the panic of the callback that asked for it"},
	{"scheduler/tasks/work.go", "		t.counters.Cancelled.inc()\n		r.halt(t, ReasonCancelled, now)\n", "", "an owner's cancellation dies with the callback"},
	{"scheduler/tasks/work.go", "	case a.failed != \"\":\n		r.halt(t, a.failed, now)\n", "", "a lost watchdog without a successor stays"},
	{"scheduler/tasks/control.go", "	if a.lost {\n		t.unacknowledged(now)\n	}\n", "", "lost work is not counted"},
	{"scheduler/tasks/shutdown.go", "		case a != nil:\n			r.disarm(t)\n", "", "a successor outlives the shutdown"},
	{"scheduler/tasks/complete.go", "	case r.stopping:\n		reason = ReasonShutDown\n", "", "a completion arms after the shutdown"},
	{"scheduler/tasks/reconcile.go", "	if !d.active {\n		return c.Cancel()\n	}", "	if !d.active {\n		return nil\n	}", "a task that is not wanted stays armed"},
	{"scheduler/tasks/reconcile.go", "|| t.cadence != cadence ", "", "another cadence is no conflict"},

	// Measurements.
	{"scheduler/tasks/summary.go", "	hi, carry := bits.Add64(m.hi, 0, carry)\n", "	hi, carry := m.hi, uint64(0)\n", "a total of 64 bits"},
	{"scheduler/tasks/summary.go", "	h2 += carry // cannot", "	h2 += carry & 0 // cannot", "a carry lost in the scaled mean"},
	{"scheduler/tasks/summary.go", "	if m.samples == math.MaxUint64 {\n", "	if m.samples == math.MaxUint64-1 {\n", "the last sample counts as an overflow"},
	{"scheduler/tasks/memory.go", "func growth(start, end uint64) uint64 { return max(start, end) - start }", "func growth(start, end uint64) uint64 { return end - start }", "a shrinking heap grows"},
	{"scheduler/tasks/counters.go", "	if carry != 0 {\n		sum = math.MaxUint64\n	}\n	*c", "	_ = carry\n	*c", "counters wrap"},
	{"scheduler/tasks/delta.go", "	case b.At <= a.At:", "	case b.At < a.At:", "an interval of no time"},
	{"scheduler/tasks/snapshot.go", "t.wake.deadline <= now}", "t.wake.deadline < now}", "overdue a moment late"},
	{"scheduler/tasks/complete.go", "		if there = !r.settle(a, now); there {\n			a.span.record(&t.work)\n		}", "		a.span.record(&t.work)\n		there = !r.settle(a, now)", "the binding of what follows is not measured"},
	{"scheduler/tasks/span.go", "p.CPU.record(growth(s.cpu, cpu))", "p.CPU.record(cpu)", "a run is charged the CPU time of its thread's past"},
	{"scheduler/tasks/memory.go", "	m.Start, m.End = copyReading(m.Start), copyReading(m.End)\n", "", "snapshots share their memory readings"},
	{"scheduler/tasks/complete.go", "if kind == OutcomeRetryableFailure {", "if kind == OutcomeRetryableFailure || kind == OutcomeInvariantFailure {", "an invariant failure adds to the streak"},
	{"scheduler/tasks/control.go", "	t.request(now, deadline)\n", "	_ = now\n", "the delay that a command asked for is not shown"},
	{"scheduler/tasks/handle.go", "|| max(t.wake.deadline, deadline) <= now) {", ") {", "a wake-up that is due is armed again"},
	{"scheduler/tasks/work.go", "case !t.watchdog() || r.stopping:", "case !t.watchdog():", "a watchdog that panics in a shutdown stays lost"},
	{"scheduler/tasks/register.go", "	case r.tasks[t.id] != nil:\n		return 0, ErrIdentityAlreadyRegistered\n	case len(r.tasks) >= MaxRegistrations:\n		return 0, ErrCapacity\n", "	case len(r.tasks) >= MaxRegistrations:\n		return 0, ErrCapacity\n	case r.tasks[t.id] != nil:\n		return 0, ErrIdentityAlreadyRegistered\n", "a duplicate is told to make room"},
	{"scheduler/tasks/schedule.go", "s.at-now > math.MaxInt64 {", "s.at-now >= math.MaxInt64 {", "the longest delay is refused"},
}
