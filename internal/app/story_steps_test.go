package app_test

import (
	"context"
	"sync"

	"airtable-replay/internal/pass"
)

// onceAtRead calls back the first time that a pass has read and not yet written.
func onceAtRead(then func()) func(context.Context, pass.Step, []string) {
	return onceAt(pass.StepRead, then)
}

// onceAtAnswer calls back the first time that a pass has its answer, or knows that none comes.
func onceAtAnswer(then func()) func(context.Context, pass.Step, []string) {
	return onceAt(pass.StepAnswered, then)
}

func onceAt(at pass.Step, then func()) func(context.Context, pass.Step, []string) {
	var once sync.Once
	return func(_ context.Context, step pass.Step, _ []string) {
		if step == at {
			once.Do(then)
		}
	}
}
