//go:build !darwin

package doctor

import "errors"

// mountByStatfs is implemented on macOS only.
func mountByStatfs(string) (mount, error) { return mount{}, errors.ErrUnsupported }
