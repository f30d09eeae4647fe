// Package decisions gives callbacks decisions of other policies, which the compiler must refuse.
package decisions

import (
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var (
	_ = tasks.NewOnceResult(tasks.NoWork(), tasks.RecurAfterCompletion())
	_ = tasks.NewOnceResult(tasks.NoWork(), tasks.Continue())
	_ = tasks.NewAfterCompletionResult(tasks.NoWork(), tasks.Continue())
	_ = tasks.NewWatchdogResult(tasks.NoWork(), tasks.RecurAfterCompletion())
	_ = tasks.NewWatchdogResult(tasks.NoWork(), tasks.RetryAfter(time.Second))
)
