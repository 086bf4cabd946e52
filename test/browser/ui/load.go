//go:build linux

package ui

import (
	"encoding/json"
	"fmt"

	"swapkeep/test/await"
)

// loaded waits until the tab shows a fully loaded document from url.
func loaded(t tab, url string) error {
	want, err := json.Marshal(url)
	if err != nil {
		return err
	}
	return awaitTrue(t, fmt.Sprintf("location.href.startsWith(%s) && document.readyState === 'complete'", want), "did not load "+url)
}

// reloaded waits until another document is loaded.
func reloaded(t tab, reload func() error) error {
	if _, err := t.run("globalThis.swapkeepBefore = true"); err != nil {
		return err
	}
	if err := reload(); err != nil {
		return err
	}
	return awaitTrue(t, "!globalThis.swapkeepBefore && document.readyState === 'complete'", "did not load again")
}

// awaitTrue waits until a condition is true. Calls may fail while the document changes.
func awaitTrue(t tab, condition, failure string) error {
	var err error
	if !await.Holds(startTimeout, func() bool {
		var raw json.RawMessage
		raw, err = t.run(condition)
		return err == nil && string(raw) == "true"
	}) {
		return fmt.Errorf("%s in %s: %w", failure, startTimeout, err)
	}
	return nil
}
