// Package copied copies a registration and a context, which go vet must refuse.
package copied

import "github.com/daybreak-beacon/daybreak/scheduler/tasks"

// Registration is copied by its return.
func Registration(g *tasks.OnceRegistration) tasks.OnceRegistration { return *g }

// Context is copied by its return.
func Context(c *tasks.WatchdogContext) tasks.WatchdogContext { return *c }
