//go:build linux

package ui

import (
	"encoding/json"
	"fmt"
	"time"
)

// loaded waits until the tab shows a fully loaded document from url.
func loaded(t tab, url string) error {
	want, err := json.Marshal(url)
	if err != nil {
		return err
	}
	return await(t, fmt.Sprintf("location.href.startsWith(%s) && document.readyState === 'complete'", want), "did not load "+url)
}

// reloaded waits until another document is loaded.
func reloaded(t tab, reload func() error) error {
	if _, err := t.run("globalThis.swapkeepBefore = true"); err != nil {
		return err
	}
	if err := reload(); err != nil {
		return err
	}
	return await(t, "!globalThis.swapkeepBefore && document.readyState === 'complete'", "did not load again")
}

// await waits until a condition is true. Calls may fail while the document changes.
func await(t tab, condition, failure string) error {
	var err error
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(pause / 2) {
		var raw json.RawMessage
		if raw, err = t.run(condition); err == nil && string(raw) == "true" {
			return nil
		}
	}
	return fmt.Errorf("%s in %s: %w", failure, startTimeout, err)
}
