package tasks_test

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"math/rand/v2"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var registryTests = []requirement{
	{"R-01 parts of a program share one inventory", func(w *world) {
		must(w.rt.RegisterOnce(tasks.MustIdentity("daemon", "slot", "sign"), tasks.Retained(nil), idleOnce))(w.T)
		must(w.rt.RegisterWatchdog(tasks.MustIdentity("library", "db", "compact"), time.Second, tasks.Retained(nil), idleWatchdog))(w.T)
		must(w.rt.RegisterAfterCompletion(tasks.MustIdentity("app", "mail", "send"), time.Second, tasks.Retained(nil), idleAfter))(w.T)
		var got []string
		for _, s := range w.rt.Inventory().Tasks {
			got = append(got, s.Identity.String()+" "+string(s.Policy))
		}
		want := []string{"app/mail/send after-completion", "daemon/slot/sign once", "library/db/compact watchdog"}
		if !slices.Equal(got, want) {
			w.Fatalf("got %v, want %v", got, want)
		}
	}},
	{"R-02 initialization is explicit and idempotent", func(w *world) {
		tasks.ForgetDefault()
		_, err := tasks.DefaultRuntime()
		w.is(err, tasks.ErrNotInitialized)
		for _, rt := range []*tasks.Runtime{nil, {}} {
			_, err = rt.RegisterOnce(job, tasks.Retained(nil), idleOnce)
			w.is(err, tasks.ErrNotInitialized)
			w.is(rt.Shutdown(0), tasks.ErrNotInitialized)
			var slot *tasks.WatchdogRegistration
			w.is(rt.ReconcileWatchdog(&slot, job, time.Second, tasks.Inactive(), idleWatchdog), tasks.ErrNotInitialized)
			equal(w.T, "epoch", rt.Epoch(), 0)
			equal(w.T, "inventory's epoch", rt.Inventory().Epoch, 0)
			if _, ok := rt.Snapshot(job); ok {
				w.Fatal("a snapshot of nothing")
			}
		}
		first := tasks.InitializeRuntime()
		g := must(first.RegisterOnce(job, tasks.Retained(nil), idleOnce))(w.T)
		again := tasks.InitializeRuntime()
		equal(w.T, "runtime", again, first)
		equal(w.T, "epoch", again.Epoch(), first.Epoch())
		equal(w.T, "default", must(tasks.DefaultRuntime())(w.T), first)
		equal(w.T, "registration", must(g.Snapshot())(w.T).Registration, g.ID())
		tasks.ForgetDefault()
	}},
	{"R-03 identities have three sound parts of at most 64 bytes", identityParts},
	{"R-04 the inventory is in the order of identities", func(w *world) {
		seed := uint64(time.Now().UnixNano())
		w.Logf("seed %d", seed)
		var ids []tasks.Identity
		for _, owner := range []string{"a", "ab", "b"} {
			for _, subsystem := range []string{"a", "z"} {
				for _, name := range []string{"a", "a b", "é"} {
					ids = append(ids, tasks.MustIdentity(owner, subsystem, name))
				}
			}
		}
		shuffled := slices.Clone(ids)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(ids), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for _, id := range shuffled {
			must(w.rt.RegisterOnce(id, tasks.Retained(nil), idleOnce))(w.T)
		}
		for i, s := range w.rt.Inventory().Tasks {
			equal(w.T, fmt.Sprint("task ", i), s.Identity, ids[i])
		}
		// By parts, not by the text: "a"/"z" comes before "ab"/"a".
		equal(w.T, "compare", tasks.MustIdentity("a", "z", "x").Compare(tasks.MustIdentity("a b", "a", "x")), -1)
	}},
	{"R-05 a duplicate changes nothing", func(w *world) {
		var ran []string
		named := func(name string) tasks.OnceFunc {
			return func(context.Context, *tasks.OnceContext) tasks.OnceResult {
				ran = append(ran, name)
				return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
			}
		}
		w.once(tasks.RetainedAt(tasks.After(time.Second)), named("first"))
		before := w.see()
		released := 0
		_, err := w.rt.RegisterOnce(job, tasks.RetainedAt(tasks.Immediately()), named("second"), tasks.OnRelease(func() { released++ }))
		w.is(err, tasks.ErrIdentityAlreadyRegistered)
		_, err = w.rt.RegisterWatchdog(job, time.Second, tasks.Retained(nil), idleWatchdog)
		w.is(err, tasks.ErrIdentityAlreadyRegistered)
		equal(w.T, "released", released, 1)
		if !reflect.DeepEqual(w.see(), before) {
			w.Fatal("the snapshot has changed")
		}
		w.clock.advance(time.Second)
		if !slices.Equal(ran, []string{"first"}) {
			w.Fatalf("ran %v", ran)
		}
	}},
	{"R-06 the 65th registration is refused without effects", func(w *world) {
		for i := range tasks.MaxRegistrations {
			must(w.rt.RegisterOnce(tasks.MustIdentity("test", "n", strconv.Itoa(i)), tasks.Retained(nil), idleOnce))(w.T)
		}
		_, err := w.rt.RegisterOnce(job, tasks.RetainedAt(tasks.Immediately()), idleOnce)
		w.is(err, tasks.ErrCapacity)
		_, err = w.rt.RegisterOnce(tasks.MustIdentity("test", "n", "0"), tasks.RetainedAt(tasks.Immediately()), idleOnce)
		w.is(err, tasks.ErrIdentityAlreadyRegistered) // what its owner has to mend, room or not
		w.handles(0)
		equal(w.T, "tasks", len(w.rt.Inventory().Tasks), 64)
		equal(w.T, "timers armed", w.clock.made, 0)
	}},
	{"R-07 a task owns one handle, a watchdog two", func(w *world) {
		g := w.once(tasks.RetainedAt(tasks.After(time.Second)), idleOnce)
		w.handles(1)
		w.ok(g.ReconcileSchedule(ptr(tasks.After(time.Minute))))
		w.handles(1)
		w.ok(g.Unregister())
		w.handles(0)
		w.clock.holdZero = true
		d := w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
		w.handles(1)
		w.clock.advance(time.Second)
		w.handles(2)
		w.ok(d.EnsureScheduledImmediately())
		w.handles(2)
		w.clock.advance(time.Second) // the queued work is replaced
		w.handles(2)
		w.clock.release()
		w.ok(d.Cancel())
		w.handles(0)
		w.rt.TakeHandles(tasks.MaxHandles)
		err := d.EnsureScheduled()
		w.is(err, tasks.ErrOwnershipInvariant)
		w.inactive(tasks.ReasonBindingFailed)
	}},
	{"R-08 replaced deadlines leave nothing behind", func(w *world) {
		rt := tasks.New(tasks.Config{})
		g := must(rt.RegisterOnce(job, tasks.Retained(nil), idleOnce))(w.T)
		heap := func() uint64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		for i := range 200_000 {
			w.ok(g.ReconcileSchedule(ptr(tasks.After(time.Hour + time.Duration(i)))))
		}
		if after := heap(); after > before+4<<20 {
			w.Fatalf("200,000 replacements left %d bytes", after-before)
		}
		equal(w.T, "handles", rt.Inventory().Handles, 1)
		w.ok(rt.Shutdown(0))
	}},
	{"R-09 a registration is the sole right and cannot be copied", func(w *world) {
		out, err := exec.Command("go", "vet", "./testdata/copied").CombinedOutput()
		if n := strings.Count(string(out), "noCopy"); err == nil || n < 2 {
			w.Fatalf("go vet found %d copies (%v):\n%s", n, err, out)
		}
		g := w.once(tasks.RetainedAt(tasks.After(time.Second)), idleOnce)
		w.ok(g.Unregister())
		w.once(tasks.RetainedAt(tasks.After(time.Second)), idleOnce) // the same identity, another claim
		before := w.see()
		w.is(g.Cancel(), tasks.ErrRegistrationExpired)
		w.is(g.Unregister(), tasks.ErrRegistrationExpired)
		w.is(g.EnsureScheduled(tasks.Immediately()), tasks.ErrRegistrationExpired)
		w.is(g.ReconcileSchedule(nil), tasks.ErrRegistrationExpired)
		_, err = g.Snapshot()
		w.is(err, tasks.ErrRegistrationExpired)
		_, err = g.Failures()
		w.is(err, tasks.ErrRegistrationExpired)
		equal(w.T, "armed", g.HasArmedWakeup(), false)
		if !reflect.DeepEqual(w.see(), before) {
			w.Fatal("an expired registration reached its successor")
		}
		w.is(new(tasks.OnceRegistration).Cancel(), tasks.ErrRegistrationExpired)
	}},
	{"R-10 nothing suspends the whole runtime", func(w *world) { methods(w, "Suspend", "Resume", "Pause", "Reset", "CancelAll") }},
	{"R-11 the package can store nothing", func(w *world) {
		files := must(filepath.Glob("*.go"))(w.T)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file := must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly))(w.T)
			for _, imp := range file.Imports {
				switch name, _ := strconv.Unquote(imp.Path.Value); strings.Split(name, "/")[0] {
				case "os", "io", "net", "database", "bufio", "embed", "path":
					w.Errorf("%s imports %s", path, name)
				}
			}
		}
		if _, err := os.Stat("tasks.go"); err != nil || len(files) < 20 {
			w.Fatalf("looked at %d files: %v", len(files), err)
		}
	}},
	{"R-12 nothing outside can run a callback", func(w *world) { methods(w, "Run", "Deliver", "Execute", "Fire", "Dispatch", "Trigger") }},
}

// methods checks the whole list of a runtime's methods, and that none is called as one of the forbidden ones.
func methods(w *world, forbidden ...string) {
	want := []string{"Epoch", "Inventory", "Now", "ReconcileAfterCompletion", "ReconcileOnce", "ReconcileWatchdog",
		"RegisterAfterCompletion", "RegisterOnce", "RegisterWatchdog", "Shutdown", "Snapshot"}
	var got []string
	for m := range reflect.TypeFor[*tasks.Runtime]().Methods() {
		switch m.Name {
		case "ExhaustClaims", "ExhaustGenerations", "TakeHandles", "SetCounters": // of export_test.go
		default:
			got = append(got, m.Name)
		}
	}
	if !slices.Equal(got, want) {
		w.Fatalf("got %v, want %v", got, want)
	}
	for _, kind := range []reflect.Type{reflect.TypeFor[*tasks.OnceRegistration](), reflect.TypeFor[*tasks.AfterCompletionRegistration](),
		reflect.TypeFor[*tasks.WatchdogRegistration](), reflect.TypeFor[*tasks.OnceContext](), reflect.TypeFor[*tasks.WatchdogContext]()} {
		for m := range kind.Methods() {
			if slices.Contains(forbidden, m.Name) {
				w.Errorf("%v has a method %s", kind, m.Name)
			}
		}
	}
}

func identityParts(w *world) {
	long := strings.Repeat("ä", 32) // 64 bytes
	for _, c := range []struct {
		parts [3]string
		field string
		cause tasks.IdentityCause
	}{
		{[3]string{long, long, long}, "", ""},
		{[3]string{"a b", "ü", "x-1/2"}, "", ""},
		{[3]string{"", "b", "c"}, "owner", tasks.IdentityEmpty},
		{[3]string{"a", "", "c"}, "subsystem", tasks.IdentityEmpty},
		{[3]string{"a", "b", ""}, "name", tasks.IdentityEmpty},
		{[3]string{"a", long + "x", "c"}, "subsystem", tasks.IdentityTooLong},
		{[3]string{"a", "b", "\xff"}, "name", tasks.IdentityNotUTF8},
		{[3]string{"a\n", "b", "c"}, "owner", tasks.IdentityControl},
		{[3]string{"a", " b", "c"}, "subsystem", tasks.IdentityBlank},
		{[3]string{"a", "b", "c\u00a0"}, "name", tasks.IdentityBlank},
	} {
		id, err := tasks.NewIdentity(c.parts[0], c.parts[1], c.parts[2])
		if c.field == "" {
			w.ok(err)
			equal(w.T, "parts", [3]string{id.Owner(), id.Subsystem(), id.Name()}, c.parts)
			continue
		}
		e, ok := err.(*tasks.IdentityError)
		if !ok || e.Field != c.field || e.Cause != c.cause {
			w.Fatalf("%q: got %v, want %s: %s", c.parts, err, c.field, c.cause)
		}
		if _, err := w.rt.RegisterOnce(id, tasks.Retained(nil), idleOnce); err == nil {
			w.Fatalf("%q was registered", c.parts)
		}
	}
	_, err := w.rt.RegisterOnce(tasks.Identity{}, tasks.Retained(nil), idleOnce)
	if _, ok := err.(*tasks.IdentityError); !ok {
		w.Fatalf("the zero identity: %v", err)
	}
	defer func() {
		if recover() == nil {
			w.Fatal("MustIdentity took an empty name")
		}
	}()
	tasks.MustIdentity("a", "b", "")
}
